//go:build linux

package local

import (
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
		if process.InnerPid(pid) == i.Pid {
			n.pids[i.Instance] = pid
		}
	}
	return n.pids[i.Instance]
}
