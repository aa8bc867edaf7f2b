//go:build linux

package control

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/rendezvous"
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

func TestMountable(t *testing.T) {
	for dir, want := range map[string]bool{
		"/": false, "/usr": false, "/etc": false, "/proc/1": false, "/dev/shm": false, "relative": false, "": false,
		"/home": true, "/home/me/work": true, "/tmp": true, "/srv": true, "/usr/local/src/x": true, "/var/tmp/x": true, "/root": true,
	} {
		if mountable(dir) != want {
			t.Errorf("%q: %v", dir, !want)
		}
	}
}

func TestContain(t *testing.T) {
	l := &launcher{dir: "/state/runs/a-1111", uid: 1000, private: private{
		Env: []string{"HOME=/home/me"}, Runtime: &engine.Runtime{Kind: engine.Podman, Path: "/usr/bin/podman"},
	}}
	role := &job.Role{Replicas: 1, Run: "python train.py", Image: &job.Image{Name: "train:1"}, Resources: job.Resources{Shm: 1 << 20, GPUs: 2}, Volumes: []job.Volume{{Source: "/srv/data", Path: "/data", ReadOnly: true}}}
	r := &run.Run{
		ID: "a-1111", Origin: run.Origin{Dir: "/home/me"}, Grant: &run.Grant{GPUs: map[string][]string{"worker-0": {"4", "5"}}},
		Spec: job.Spec{
			Name: "a", Roles: map[string]*job.Role{"worker": role}, Inputs: []job.Input{{Name: "in", From: "/srv/in"}},
			Secrets: map[string]job.Secret{"tls.key": {File: "/k", As: "/run/secrets/tls.key"}, "b": {File: "/k", As: "b"}},
		},
	}
	i := job.Instance{Task: job.Task{Role: "worker"}, Attempt: 1, Try: 1}
	got := l.launch(r, start{Instance: i, plan: rendezvous.Plan{Joined: &engine.Probe{Listen: 1}}})
	c := got.Container
	if got.Dir != "" || c.Fallback != "/home/me" || c.Runtime.Kind != engine.Podman || c.Network != "host" || c.Shm != 1<<20 || c.Keep || got.Joined == nil {
		t.Errorf("%+v %+v", got, c)
	}
	if want := []string{"/bin/sh", "-c", shellInImage, "python train.py"}; !reflect.DeepEqual(got.Argv, want) {
		t.Errorf("%q", got.Argv)
	}
	env := strings.Join(got.Env, " ")
	if strings.Contains(env, "HOME=") || !strings.Contains(env, "CUDA_VISIBLE_DEVICES=0,1 ") || !reflect.DeepEqual(c.GPUs, []string{"4", "5"}) {
		t.Errorf("%s %v", env, c.GPUs)
	}
	want := []engine.Mount{
		{Source: "/srv/data", Path: "/data", ReadOnly: true},
		{Source: "/home/me", Path: "/home/me"},
		{Source: "/state/runs/a-1111/outputs", Path: "/state/runs/a-1111/outputs"},
		{Source: "/state/runs/a-1111/checkpoint", Path: "/state/runs/a-1111/checkpoint"},
		{Source: "/state/runs/a-1111/inputs", Path: "/state/runs/a-1111/inputs", ReadOnly: true},
		{Source: "/srv/in", Path: "/srv/in", ReadOnly: true},
		{Source: "/state/runs/a-1111/secrets/as-tls.key", Path: "/run/secrets/tls.key", ReadOnly: true},
		{Source: "/state/runs/a-1111/secrets", Path: "/state/runs/a-1111/secrets", ReadOnly: true},
	}
	if !reflect.DeepEqual(c.Mounts, want) {
		t.Errorf("mounts\n%v\nwant\n%v", c.Mounts, want)
	}
	role.Container = &job.Container{User: "nobody"}
	r.Origin.Code = "abc"
	got = l.launch(r, start{Instance: i, plan: rendezvous.Plan{Joined: &engine.Probe{Listen: 1}}})
	if got.Joined != nil || got.Dir != filepath.Join(l.dir, codeDir) || got.Container.Fallback != "" {
		t.Errorf("another user's container, with code: %+v", got)
	}
}
