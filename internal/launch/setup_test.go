package launch

import (
	"slices"
	"strings"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

func TestSetUp(t *testing.T) {
	before := []string{"/bin/sh", "-c", setupFirst, "setup", "pip install x"}
	for _, c := range []struct {
		name   string
		setup  string
		launch engine.Launch
		want   []string
	}{
		{"none", "", engine.Launch{Argv: []string{"a"}}, []string{"a"}},
		{"before a command", "pip install x", engine.Launch{Argv: []string{"a", "b c"}}, append(slices.Clone(before), "a", "b c")},
		{"in an image", "pip install x", engine.Launch{Argv: []string{"a"}, Container: &engine.Container{}}, append(slices.Clone(before), "a")},
		{
			"before another entrypoint", "pip install x",
			engine.Launch{Argv: []string{"a"}, Container: &engine.Container{Entrypoint: []string{"tini", "--"}, Keep: true}},
			append(slices.Clone(before), "tini", "--", "a"),
		},
	} {
		l := c.launch
		setUp(&l, &job.Spec{Roles: map[string]*job.Role{"worker": {Setup: c.setup}}}, job.Task{Role: "worker"})
		if !slices.Equal(l.Argv, c.want) || l.Container != nil && (l.Container.Keep || len(l.Container.Entrypoint) > 0) {
			t.Errorf("%s: %q %+v, want %q", c.name, l.Argv, l.Container, c.want)
		}
		if _, got := Parts(&l); !slices.Equal(got, c.want[len(c.want)-len(got):]) || slices.Contains(got, setupFirst) || len(got) == 0 {
			t.Errorf("%s: after its setup it becomes %q", c.name, got)
		}
	}
}

func setupIn(l *engine.Launch) string {
	setup, _ := Parts(l)
	return setup
}

// TestSetUpOnce: the first process of a replica does it for the others, unless
// each has a container of its own.
func TestSetUpOnce(t *testing.T) {
	spec := &job.Spec{Roles: map[string]*job.Role{"worker": {Replicas: 2, Procs: "2", Setup: "x"}}}
	for index, first := range []int{0, 0, 2, 2} {
		task := job.Task{Role: "worker", Index: index}
		l := engine.Launch{Argv: []string{"a"}}
		setUp(&l, spec, task)
		switch {
		case index == first && (l.After != nil || setupIn(&l) != "x"):
			t.Errorf("%s does not do it: %+v", task, l)
		case index != first && (l.After == nil || l.After.Index != first || setupIn(&l) != ""):
			t.Errorf("%s does not wait for worker-%d: %+v", task, first, l)
		}
	}
	spec.Roles["worker"].Image = &job.Image{Name: "train:1"}
	l := engine.Launch{Argv: []string{"a"}, Container: &engine.Container{}}
	setUp(&l, spec, job.Task{Role: "worker", Index: 1})
	if l.After != nil || setupIn(&l) != "x" {
		t.Errorf("a container is not set up: %+v", l)
	}
}

func TestSetupFaults(t *testing.T) {
	image := &job.Image{Name: "train:1"}
	for _, c := range []struct {
		name string
		role job.Role
		want string // part of the problem; "" for none
	}{
		{"no setup", job.Role{Procs: "2", Run: "a"}, ""},
		{"a setup", job.Role{Setup: "x", Run: "a"}, ""},
		{"several processes", job.Role{Setup: "x", Run: "a", Procs: "2"}, ""},
		{"an image's own command", job.Role{Setup: "x", Image: image, Args: []string{"a"}}, "container.entrypoint"},
		{"a command in an image", job.Role{Setup: "x", Image: image, Command: []string{"a"}}, ""},
		{"another entrypoint", job.Role{Setup: "x", Image: image, Container: &job.Container{Entrypoint: []string{"a"}}}, ""},
	} {
		c.role.Replicas = 1
		text := ""
		for _, p := range setupFaults(&job.Spec{Roles: map[string]*job.Role{"worker": &c.role}}) {
			text += p.Field + ": " + p.Text + "; " + p.Hint + "\n"
		}
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}
