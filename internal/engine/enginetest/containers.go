//go:build linux

package enginetest

import (
	"os"
	"path/filepath"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

// Containers says how the suite's tasks are put into containers. The runtime is
// found as users have it found, by the environment.
type Containers struct {
	// Image has a shell and nothing of what the tests need: that is mounted.
	Image string

	// Left returns the containers that the runtime has of a run.
	Left func(run string) []string
}

// volumes are the suite's own programs, and the machine's Python.
func (c *Containers) volumes() []job.Volume {
	bin := filepath.Dir(Binary("trainer"))
	return []job.Volume{{Source: bin, Path: bin, ReadOnly: true}, {Source: "/usr", Path: "/usr", ReadOnly: true}}
}

// role puts the tasks of a role into containers. It does nothing without.
func (c *Containers) role(r *job.Role) {
	if c != nil {
		r.Image, r.Volumes = &job.Image{Name: c.Image, Pull: "never"}, c.volumes()
	}
}

// contain does the same for a task that no plane has made.
func (b *bench) contain(l *engine.Launch) {
	b.Helper()
	c := b.o.Containers
	if c == nil {
		return
	}
	r, err := b.e.(engine.ContainerEngine).FindRuntime(os.Environ())
	if err != nil {
		b.Fatal(err)
	}
	l.Container = &engine.Container{Runtime: *r, Image: c.Image, Pull: "never", Network: "host"}
	for _, v := range append(c.volumes(), job.Volume{Source: b.work, Path: b.work}) {
		l.Container.Mounts = append(l.Container.Mounts, engine.Mount{Source: v.Source, Path: v.Path, ReadOnly: v.ReadOnly})
	}
}

// isInit says that a process is a container's first, not the task's own.
func isInit(pid int) bool { return strings.HasPrefix(commandLine(pid), "/.muster/init ") }
