//go:build linux

package local

import (
	"context"
	"os"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/taskhost"
)

// A Finding is whether one isolation works on this machine.
type Finding struct {
	Isolation taskhost.Isolation
	Strong    bool // the kernel ends the tasks when the host dies
	Err       error
}

// Probe starts and ends a host in every isolation that applies to this user.
func Probe(exe string) []Finding {
	var all []Finding
	for _, iso := range []taskhost.Isolation{taskhost.Best(), taskhost.NoIsolation} {
		all = append(all, Finding{iso, iso != taskhost.NoIsolation, probe(exe, iso)})
	}
	return all
}

func probe(exe string, iso taskhost.Isolation) error {
	dir, err := os.MkdirTemp("", "muster-doctor-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	e := New(Config{Exe: exe})
	e.iso = iso
	n := e.node(engine.Run{ID: "doctor", Dir: dir, Attached: true, Signal: "TERM"})
	n.find()
	if _, err := n.start(); err != nil {
		return err
	}
	return n.forget(ctx)
}
