//go:build linux

package frameworks

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// processes returns the processes of this machine that have all these
// variables (NAME=value) in their environment. This is how they look from
// outside, whatever namespaces they are in. One that has ended has none.
func processes(variables ...string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var pids []int
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err != nil {
			continue // ended, or another user's
		}
		if hasAll(env, variables) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func hasAll(env []byte, variables []string) bool {
	env = append([]byte{0}, env...)
	for _, v := range variables {
		if !bytes.Contains(env, []byte("\x00"+v+"\x00")) {
			return false
		}
	}
	return true
}

// describe says what processes these are.
func describe(pids []int) string {
	var b strings.Builder
	for _, pid := range pids {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		fmt.Fprintf(&b, "%d %s\n", pid, bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '}))
	}
	return b.String()
}
