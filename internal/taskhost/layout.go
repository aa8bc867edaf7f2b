//go:build linux

// Package taskhost is the process on a node that runs that node's tasks of one
// run. An owner tells it over a stream what should be (engine.Desired) and it
// reports what is. It outlives its owner or, attached, ends its tasks with it;
// it never opens the store. One goroutine, the loop in host.go, owns all state.
package taskhost

import (
	"fmt"
	"path/filepath"

	"muster.dev/muster/internal/job"
)

// The files of a run's folder that belong to its hosts.
const (
	SocketName  = "host.sock"
	StateName   = "host.json" // written by the host, from what its owner tells it
	ClaimName   = "host.lock" // held by the host; stays
	JournalName = "journal"
	HookName    = "hook"
	RanksName   = "ranks" // a folder: where MPI's ranks meet their launcher
)

// LogDir is where an instance's output is kept.
func LogDir(runDir string, i job.Instance) string {
	return filepath.Join(runDir, "logs", i.Task.String(), fmt.Sprintf("%d.%d", i.Attempt, i.Try))
}
