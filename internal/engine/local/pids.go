//go:build linux

package local

import (
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost"
	"muster.dev/muster/internal/taskhost/process"
)

// outerPid is an instance's pid as people on this machine see it: a host in a
// PID namespace of its own counts from 1. 0 means that it is not known yet.
func (n *node) outerPid(i engine.Instance) int {
	if n.host == nil || n.host.Isolation == taskhost.NoIsolation {
		return i.Pid
	}
	return n.pids[i.Instance]
}

// learnPids looks up the pids of instances that have lived long enough for their
// usage to be known: all at once, as there may be hundreds.
func (n *node) learnPids(changed []engine.Instance) {
	if n.host == nil || n.host.Isolation == taskhost.NoIsolation {
		return
	}
	unknown := map[int]job.Instance{}
	for _, i := range changed {
		if n.pids[i.Instance] == 0 && !i.State.Gone() && i.Usage.Memory > 0 {
			unknown[i.Pid] = i.Instance
		}
	}
	if len(unknown) == 0 {
		return
	}
	known := map[int]bool{}
	for _, pid := range n.pids {
		known[pid] = true
	}
	for _, pid := range process.Children(n.host.Pid) {
		if known[pid] {
			continue
		}
		if i, ok := unknown[process.InnerPid(pid)]; ok {
			n.pids[i] = pid
		}
	}
}
