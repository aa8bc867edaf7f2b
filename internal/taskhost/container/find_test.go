//go:build linux

package container

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/problem"
)

// tools is a folder of programs that answer as a script says.
func tools(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	podmanTool = "echo podman version 4.3.1\n"
	dockerTool = `case $1 in --version) echo Docker version 28.2;; *) echo '["name=seccomp"]';; esac` + "\n"
	daemonless = `case $1 in --version) echo Docker version 28.2;; *) echo 'Cannot connect to the Docker daemon' >&2; exit 1;; esac` + "\n"
)

func TestFind(t *testing.T) {
	both := tools(t, map[string]string{"podman": podmanTool, "docker": dockerTool})
	only := tools(t, map[string]string{"docker": dockerTool})
	shim := tools(t, map[string]string{"docker": podmanTool})
	broken := tools(t, map[string]string{"docker": daemonless})
	for _, c := range []struct {
		name, path, chosen, more string
		kind, words              string
	}{
		{"podman first", both, "", "", engine.Podman, ""},
		{"docker alone", only, "", "", engine.Docker, ""},
		{"docker by name", both, "docker", "", engine.Docker, ""},
		{"by path", "/nowhere", filepath.Join(both, "podman"), "", engine.Podman, ""},
		{"docker that is podman", shim, "", "", engine.Podman, ""},
		{"none", "/nowhere", "", "", "", "an image needs podman or docker, and neither is on PATH"},
		{"none by that name", only, "podman", "", "", "MUSTER_CONTAINER=podman: there is no such program"},
		{"no daemon", broken, "", "", "", "Cannot connect to the Docker daemon"},
		{"elsewhere", only, "", "DOCKER_HOST=ssh://there", "", "is not on this machine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := []string{"PATH=" + c.path, Variable + "=" + c.chosen, c.more, "LD_PRELOAD=x.so"}
			r, err := Find(env, "/none")
			if c.words != "" {
				if problem.KindOf(err) != problem.Refused || !strings.Contains(err.Error(), c.words) {
					t.Fatalf("%v, want %q", err, c.words)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Kind != c.kind || r.Rootless != (c.kind == engine.Podman && os.Geteuid() != 0) {
				t.Errorf("%+v", r)
			}
			if lookup(r.Env, "LD_PRELOAD") != "" || lookup(r.Env, "PATH") != c.path {
				t.Errorf("its environment: %v", r.Env)
			}
		})
	}
}

func TestComplaint(t *testing.T) {
	for stderr, want := range map[string]string{
		"time=\"x\" level=warning msg=\"w\"\nError: short-name did not resolve\n":                         "short-name did not resolve",
		"docker: Error response from daemon: No such image: none:latest.\nSee 'docker run --help'.\n":     "No such image: none:latest",
		"docker: Error response from daemon: bad mount\n\nRun 'docker run --help' for more information\n": "bad mount",
		"": "",
	} {
		if got := Complaint(stderr); got != want {
			t.Errorf("%q: %q, want %q", stderr, got, want)
		}
	}
}
