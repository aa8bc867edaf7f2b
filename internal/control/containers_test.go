//go:build linux

package control

import (
	"strings"
	"testing"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

func TestContainerFaults(t *testing.T) {
	here := t.TempDir()
	image := &job.Image{Name: "train:1"}
	for _, c := range []struct {
		name      string
		framework string
		role      job.Role
		allowed   bool
		want      string // part of the problem; "" for none
	}{
		{"plain", "plain", job.Role{Image: image}, false, ""},
		{"a bound volume", "plain", job.Role{Image: image, Volumes: []job.Volume{{Source: here, Path: "/data"}}}, false, ""},
		{"a volume that is only a name", "plain", job.Role{Image: image, Volumes: []job.Volume{{Source: "data", Path: "/data"}}}, false, "--mount data=DIR"},
		{"a volume that is not there", "plain", job.Role{Image: image, Volumes: []job.Volume{{Source: here + "/none", Path: "/data"}}}, false, "none is not there"},
		{"a relative path inside", "plain", job.Role{Image: image, Volumes: []job.Volume{{Source: here, Path: "data"}}}, false, "no absolute path"},
		{"a volume without an image", "plain", job.Role{Volumes: []job.Volume{{Source: here, Path: "/data"}}}, false, "need an image"},
		{"a container without an image", "plain", job.Role{Container: &job.Container{}}, false, "needs an image"},
		{"MPI", "mpi", job.Role{Image: image, Run: "x"}, false, ""},
		{"MPI with the image's own command", "mpi", job.Role{Image: image}, false, "name it with run, command"},
		{"MPI as somebody else", "mpi", job.Role{Image: image, Run: "x", Container: &job.Container{User: "root"}}, false, "meet in a folder of yours"},
		{"MPI in another network", "mpi", job.Role{Image: image, Run: "x", Container: &job.Container{Network: "bridge"}}, false, "network: host"},
		{"another network", "torch", job.Role{Image: image, Container: &job.Container{Network: "bridge"}}, false, "network: host"},
		{"another network, nobody to meet", "plain", job.Role{Image: image, Container: &job.Container{Network: "none"}}, false, ""},
		{"privileged", "plain", job.Role{Image: image, Container: &job.Container{Privileged: true}}, false, "--allow-privileged"},
		{"options", "plain", job.Role{Image: image, Container: &job.Container{Options: []string{"-it"}}}, false, "--allow-privileged"},
		{"options, allowed", "plain", job.Role{Image: image, Container: &job.Container{Options: []string{"-it"}}}, true, ""},
		{"auth", "plain", job.Role{Image: &job.Image{Name: "x", Auth: "key"}}, false, ""},
	} {
		c.role.Replicas = 1
		s := &job.Spec{Framework: job.Framework{Name: c.framework}, Roles: map[string]*job.Role{"worker": &c.role}}
		text := ""
		for _, p := range containerFaults(s, run.Origin{Privileged: c.allowed}) {
			text += p.Text + "; " + p.Hint + "\n"
		}
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}

func TestOutputsOfContainers(t *testing.T) {
	s := &job.Spec{Outputs: []job.Output{{Path: "/mnt/logs/model"}}, Roles: map[string]*job.Role{"worker": {Replicas: 1, Image: &job.Image{Name: "x"}}}}
	if l := outputFaults(s); len(l) != 1 || !strings.Contains(l[0].Text, "goes with the container") {
		t.Errorf("%v", l)
	}
	s.Roles["worker"].Volumes = []job.Volume{{Source: "/srv/logs", Path: "/mnt/logs"}}
	if l := outputFaults(s); len(l) != 0 {
		t.Errorf("%v", l)
	}
	if at, ok := throughVolumes(s, "/mnt/logs/model"); !ok || at != "/srv/logs/model" {
		t.Errorf("%q %v", at, ok)
	}
	if at, ok := throughVolumes(s, "/mnt/logs2"); ok || at != "/mnt/logs2" {
		t.Errorf("%q %v", at, ok)
	}
}
