//go:build linux

package enginetest

import (
	"os"
	"path/filepath"
	"slices"
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

// show lets the tasks of a role see a folder of the machine.
func (c *Containers) show(r *job.Role, dir string) {
	if c != nil && dir != "/usr" {
		r.Volumes = append(r.Volumes, job.Volume{Source: dir, Path: dir, ReadOnly: true})
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

// environ adds to a caller's environment what the runtime is found by.
func (c *Containers) environ(env []string) []string {
	if c == nil {
		return env
	}
	for _, name := range []string{"MUSTER_CONTAINER", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "DOCKER_HOST", "DOCKER_CONFIG", "HOME", "XDG_RUNTIME_DIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// own says that a variable is the runtime's own affair.
func (c *Containers) own(line string) bool {
	name, _, _ := strings.Cut(line, "=")
	return c != nil && slices.Contains([]string{"HOME", "HOSTNAME", "TERM", "USER", "container"}, name)
}

// golden is the name of what the tasks of a framework see.
func (c *Containers) golden(framework string) string {
	if c == nil {
		return framework
	}
	return framework + "-container"
}

// isInit says that a process is a container's first, not the task's own.
func isInit(pid int) bool { return strings.HasPrefix(commandLine(pid), "/.muster/init ") }
