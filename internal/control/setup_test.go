//go:build linux

package control

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
		setUp(&l, &job.Role{Setup: c.setup})
		if !slices.Equal(l.Argv, c.want) || l.Container != nil && (l.Container.Keep || len(l.Container.Entrypoint) > 0) {
			t.Errorf("%s: %q %+v, want %q", c.name, l.Argv, l.Container, c.want)
		}
		if got := afterSetup(l.Argv); !slices.Equal(got, c.want[len(c.want)-len(got):]) || slices.Contains(got, setupFirst) || len(got) == 0 {
			t.Errorf("%s: after its setup it becomes %q", c.name, got)
		}
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
		{"several processes", job.Role{Setup: "x", Run: "a", Procs: "2"}, "procs: 1"},
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
