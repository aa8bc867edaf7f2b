//go:build linux

package container

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

var update = flag.Bool("update", false, "write the golden files")

// boxes are one of each kind of container.
func boxes() map[string]Box {
	podman := engine.Runtime{Kind: engine.Podman, Path: "/usr/bin/podman", Env: []string{"PATH=/usr/bin"}}
	docker := engine.Runtime{Kind: engine.Docker, Path: "/usr/bin/docker", Env: []string{"PATH=/usr/bin"}}
	rootless := podman
	rootless.Rootless, rootless.Labels = true, true
	daemonless := docker
	daemonless.Rootless = true
	box := func(c engine.Container, l engine.Launch, uid int) Box {
		c.Image, c.Network = "lab/train:1", "host"
		l.Container = &c
		return Box{
			Run: "train-p7xq", Instance: job.Instance{Task: job.Task{Role: "worker", Index: 1}, Attempt: 2, Try: 1}, Launch: &l,
			Env: []string{"MUSTER_RUN=train-p7xq", "TEXT=two\nlines", "TOKEN=s3cret"},
			Exe: "/opt/muster", Socket: "/run-dir/containers/host.sock", EnvFile: "/run-dir/containers/x.env", UID: uid, GID: uid,
		}
	}
	program := []string{"python", "train.py"}
	return map[string]Box{
		"podman-root": box(engine.Container{Runtime: podman}, engine.Launch{Argv: program, Dir: "/work"}, 0),
		"podman-rootless": box(engine.Container{Runtime: rootless, Groups: []int{5}, Mounts: []engine.Mount{{Source: "/data", Path: "/mnt/data", ReadOnly: true}}},
			engine.Launch{Argv: program, Memory: 64 << 20, CPUs: 1.5}, 1000),
		"podman-gpus": box(engine.Container{Runtime: podman, GPUs: []string{"2", "3"}, Shm: 1 << 30}, engine.Launch{Argv: program}, 0),
		"docker-user": box(engine.Container{Runtime: docker, Groups: []int{5, 6}}, engine.Launch{Argv: program, Dir: "/work"}, 1000),
		"docker-all": box(engine.Container{Runtime: docker, GPUs: []string{"2", "3"}, User: "nobody", Privileged: true, Options: []string{"--ipc=host"}, Entrypoint: []string{"/bin/entry", "-x"}},
			engine.Launch{Argv: program}, 1000),
		"docker-rootless": box(engine.Container{Runtime: daemonless}, engine.Launch{Argv: program}, 1000),
	}
}

func TestCommand(t *testing.T) {
	for name, b := range boxes() {
		t.Run(name, func(t *testing.T) {
			c, err := b.Command()
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(c.Argv, "\n") + "\n\nenvironment:\n" + strings.Join(c.Env, "\n") + "\n\nfile:\n" + string(c.EnvFile)
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestNoValues holds for every box: what is secret is in no argument.
func TestNoValues(t *testing.T) {
	for name, b := range boxes() {
		c, err := b.Command()
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{"s3cret", "two\nlines"} {
			if slices.ContainsFunc(c.Argv, func(a string) bool { return strings.Contains(a, value) }) {
				t.Errorf("%s: %q is an argument", name, value)
			}
		}
	}
}

func TestProgram(t *testing.T) {
	image := ImageConfig{Entrypoint: []string{"/entry"}, Cmd: []string{"serve"}, WorkingDir: "/app"}
	for _, c := range []struct {
		name      string
		container engine.Container
		argv      []string
		image     ImageConfig
		want      string
	}{
		{"command replaces the entrypoint", engine.Container{}, []string{"train"}, image, "train"},
		{"args keep it", engine.Container{Keep: true}, []string{"-x"}, image, "/entry -x"},
		{"nothing is the image's own", engine.Container{Keep: true}, nil, image, "/entry serve"},
		{"the job's entrypoint", engine.Container{Entrypoint: []string{"/own"}}, []string{"train"}, image, "/own train"},
		{"nothing at all", engine.Container{Keep: true}, nil, ImageConfig{}, ""},
	} {
		b := Box{Launch: &engine.Launch{Argv: c.argv, Container: &c.container}, Image: c.image}
		if got := strings.Join(b.program(), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if c.want == "" {
			if _, err := b.Command(); err == nil || !strings.Contains(err.Error(), "nothing to run") {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

func TestDir(t *testing.T) {
	for _, c := range []struct{ launch, image, fallback, want string }{
		{"/code", "/app", "/home/me", "/code"},
		{"", "/app", "/home/me", "/app"},
		{"", "/", "/home/me", "/home/me"},
		{"", "", "", ""},
	} {
		b := Box{Launch: &engine.Launch{Dir: c.launch, Container: &engine.Container{Fallback: c.fallback}}, Image: ImageConfig{WorkingDir: c.image}}
		if got := b.dir(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestMounts(t *testing.T) {
	b := boxes()["podman-root"]
	b.Launch.Container.Mounts = []engine.Mount{{Source: "/mine", Path: "/work"}}
	b.Mounts = []engine.Mount{{Source: "/work", Path: "/work"}}
	c, err := b.Command()
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(c.Argv, " ")
	if !strings.Contains(line, "source=/mine,target=/work ") || strings.Contains(line, "source=/work,") {
		t.Errorf("the first mount at a path is to stay: %s", line)
	}
	for source, want := range map[string]string{"/a b:c": "--mount type=bind,source=/a b:c,target=/c,readonly", "/a,b": "--volume /a,b:/c:ro", "/a,b:c": ""} {
		arg, err := mountArg(engine.Mount{Source: source, Path: "/c", ReadOnly: true})
		if got := strings.Join(arg, " "); got != want || (want == "") != (err != nil) {
			t.Errorf("%s: %q, %v", source, got, err)
		}
	}
}

func TestEnviron(t *testing.T) {
	b := boxes()["docker-user"]
	b.Image.Env = []string{"HOME=/home/image"}
	env := strings.Join(b.environ(), " ")
	if strings.Contains(env, "HOME=/tmp") || !strings.Contains(env, "USER=1000") || !strings.Contains(env, "NVIDIA_VISIBLE_DEVICES=void") {
		t.Errorf("%s", env)
	}
}

func TestSplitEnv(t *testing.T) {
	long := strings.Repeat("x", 40<<10)
	odd := []string{"A=b\nc", `B="quoted"`, "C= space", "D=\xff", "E=#x", "F=" + long, "G=back\\slash"}
	file, names, values := splitEnv(append([]string{"PLAIN=a b=c $x", "EMPTY="}, odd...))
	if string(file) != "PLAIN=a b=c $x\nEMPTY=\n" {
		t.Errorf("file: %q", file)
	}
	if !slices.Equal(values, odd) || strings.Join(names, " ") != "--env A --env B --env C --env D --env E --env F --env G" {
		t.Errorf("names %q", names)
	}
}
