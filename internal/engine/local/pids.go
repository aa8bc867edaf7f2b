//go:build linux

package local

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/taskhost"
	"muster.dev/muster/internal/taskhost/process"
)

// outerPid is an instance's pid as people on this machine see it: a host in a
// PID namespace of its own counts from 1. It is looked up once the instance has
// lived long enough for its usage to be known; 0 means that it has not.
func (n *node) outerPid(i engine.Instance) int {
	if n.host == nil || n.host.Isolation == taskhost.NoIsolation {
		return i.Pid
	}
	if pid := n.pids[i.Instance]; pid != 0 || i.State.Gone() || i.Usage.Memory == 0 {
		return pid
	}
	for _, pid := range process.Children(n.host.Pid) {
		if innerPid(pid) == i.Pid {
			n.pids[i.Instance] = pid
		}
	}
	return n.pids[i.Instance]
}

// innerPid is a process's pid in its own namespace.
func innerPid(pid int) int {
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
