//go:build linux

package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// InnerPid is a process's pid in its own PID namespace; 0 when it is gone.
func InnerPid(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if list, ok := strings.CutPrefix(line, "NSpid:"); ok {
			f := strings.Fields(list)
			inner, _ := strconv.Atoi(f[len(f)-1])
			return inner
		}
	}
	return 0
}
