package launch

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
	l := &Launcher{Dir: "/state/runs/a-1111", Private: Private{
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
	got := l.Launch(r, Start{Instance: i, Plan: rendezvous.Plan{Joined: &engine.Probe{Listen: 1}}, Node: engine.Node{UID: 1000}})
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
	got = l.Launch(r, Start{Instance: i, Plan: rendezvous.Plan{Joined: &engine.Probe{Listen: 1}}, Node: engine.Node{UID: 1000}})
	if got.Joined != nil || got.Dir != filepath.Join(l.Dir, CodeDir) || got.Container.Fallback != "" {
		t.Errorf("another user's container, with code: %+v", got)
	}
}
