//go:build linux

package container

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/problem"
)

// Variable chooses the runtime: podman, docker, or the path of one of them.
const Variable = "MUSTER_CONTAINER"

const direct = "--container never runs the command directly on this machine"

// Find looks for a runtime as env has it: podman first, since it needs no
// daemon. exe is our own program, which has to run inside.
func Find(env []string, exe string) (*engine.Runtime, error) {
	if !static(exe) {
		return nil, problem.New(problem.Refused, "%s was built with cgo, so it cannot run in other images", exe).WithHint("CGO_ENABLED=0 go build ./cmd/muster")
	}
	chosen := lookup(env, Variable)
	names := []string{engine.Podman, engine.Docker}
	if chosen != "" {
		names = []string{chosen}
	}
	for _, name := range names {
		if path := find(name, env); path != "" {
			return examine(path, clientEnv(env))
		}
	}
	if chosen != "" {
		return nil, problem.New(problem.Refused, "%s=%s: there is no such program", Variable, chosen).WithHint("%s", "podman, docker, or the path of one of them; "+direct)
	}
	return nil, problem.New(problem.Refused, "an image needs podman or docker, and neither is on PATH").
		WithHint("%s", "on Debian: apt-get install podman catatonit; "+direct)
}

// examine finds out what a program is, and whether it can do anything.
func examine(path string, env []string) (*engine.Runtime, error) {
	r := &engine.Runtime{Path: path, Env: env, Kind: engine.Docker, Labels: exists("/sys/fs/selinux/enforce")}
	version, stderr, err := ask(*r, "--version")
	if err != nil {
		return nil, problem.New(problem.Refused, "%s does not run: %s", path, Complaint(stderr+"\n"+err.Error())).WithHint(direct)
	}
	if strings.Contains(strings.ToLower(version), engine.Podman) {
		r.Kind, r.Rootless = engine.Podman, os.Geteuid() != 0
		return r, nil
	}
	if at := lookup(env, "DOCKER_HOST"); at != "" && !strings.HasPrefix(at, "unix:") {
		return nil, problem.New(problem.Refused, "DOCKER_HOST=%s is not on this machine, where the job's files are", at).WithHint(direct)
	}
	options, stderr, err := ask(*r, "info", "--format", "{{json .SecurityOptions}}")
	if err != nil {
		return nil, problem.New(problem.Refused, "%s is there, but does not work: %s", path, Complaint(stderr)).
			WithHint("%s", "start its daemon, be in the group docker, or install podman; "+direct)
	}
	r.Rootless = strings.Contains(options, "name=rootless")
	return r, nil
}

// find returns the path of a program, "" when it is not there.
func find(name string, env []string) string {
	if strings.Contains(name, "/") {
		if exists(name) {
			return name
		}
		return ""
	}
	for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			return path
		}
	}
	return ""
}

// clientEnv is what a runtime needs of the caller's environment. Nothing else
// is passed on: libraries of an active Python environment would be its as well.
func clientEnv(env []string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "REGISTRY_AUTH_FILE",
			"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "DBUS_SESSION_BUS_ADDRESS":
			out = append(out, kv)
			continue
		}
		for _, prefix := range []string{"DOCKER_", "CONTAINER", "XDG_", "STORAGE_", "BUILDAH_"} {
			if strings.HasPrefix(name, prefix) {
				out = append(out, kv)
				break
			}
		}
	}
	return out
}

func lookup(env []string, name string) (value string) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// static says that a program needs no loader, which an image may not have.
func static(exe string) bool {
	f, err := elf.Open(exe)
	if err != nil {
		return true // whoever starts it will say what is wrong
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return false
		}
	}
	return true
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
