//go:build linux

// Package container puts a task into a container made by podman or docker: it
// writes the runtime's command line, is the first process inside, which talks
// with the task host, and remembers what was made until it is gone.
package container

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

// Where a container finds what is ours.
const (
	inside     = "/.muster"
	initPath   = engine.MusterInside
	socketPath = inside + "/host"
)

// InitCommand is the argument under which muster is a container's first process.
const InitCommand = "box"

// runLabel is what containers of a run are found by.
const runLabel = "muster.run="

// A Box is one task's container, about to be made.
type Box struct {
	Run      string
	Instance job.Instance
	Launch   *engine.Launch
	Image    ImageConfig
	Env      []string       // everything that the task sees
	Mounts   []engine.Mount // besides the launch's own

	Exe      string // our own program
	Socket   string // where the task host listens
	EnvFile  string // where the variables will be, seen from where it is started
	UID, GID int    // the caller's
}

// A Command is how a container is started in the foreground: its output, its
// end and its removal are those of the runtime's process.
type Command struct {
	Argv    []string
	Env     []string // of the runtime's process
	EnvFile []byte   // to be written where the box says
}

// Name is how the container of an instance is called.
func Name(run string, i job.Instance) string {
	return fmt.Sprintf("muster-%s-%s-%d.%d", run, i.Task, i.Attempt, i.Try)
}

// Command returns how the box is started. No value of a variable is in its
// arguments, which everybody on the machine can read.
func (b Box) Command() (Command, error) {
	c := b.Launch.Container
	program := b.program()
	if len(program) == 0 {
		return Command{}, fmt.Errorf("there is nothing to run: neither the job nor the image %s names a command", c.Image)
	}
	mounts, err := b.mounts()
	if err != nil {
		return Command{}, err
	}
	teardown, err := json.Marshal(b.Launch.Teardown)
	if err != nil {
		return Command{}, err
	}
	file, names, values := splitEnv(b.environ())
	argv := slices.Concat(
		[]string{c.Runtime.Path, "run", "--rm", "--name", Name(b.Run, b.Instance), "--label", runLabel + b.Run},
		[]string{"--pull", "never", "--log-driver", "none", "--no-healthcheck", "--network", c.Network, "--env-file", b.EnvFile},
		names, b.user(), b.limits(), b.devices(), mounts, b.security(), c.Options,
		[]string{"--entrypoint", initPath, c.Image, InitCommand}, b.pids(), []string{b.Instance.String(), b.dir(), string(teardown)}, program,
	)
	return Command{Argv: argv, Env: slices.Concat(c.Runtime.Env, values), EnvFile: file}, nil
}

// program is what the first process starts.
func (b Box) program() []string {
	c := b.Launch.Container
	switch {
	case len(c.Entrypoint) > 0:
		return slices.Concat(c.Entrypoint, b.Launch.Argv)
	case !c.Keep:
		return b.Launch.Argv
	case len(b.Launch.Argv) > 0:
		return slices.Concat(b.Image.Entrypoint, b.Launch.Argv)
	}
	return slices.Concat(b.Image.Entrypoint, b.Image.Cmd)
}

// pids has the programs of ranks begin at numbers of their own; their launcher
// has the first ones.
func (b Box) pids() []string {
	if !b.Launch.Container.Ranks || b.Instance.Task.Role == "launcher" {
		return nil
	}
	return []string{aboveOption, strconv.Itoa(abovePid(b.Instance.Task.Index))}
}

// dir is where the task works; "" is wherever the runtime puts it.
func (b Box) dir() string {
	switch {
	case b.Launch.Dir != "":
		return b.Launch.Dir
	case b.Image.WorkingDir != "" && b.Image.WorkingDir != "/":
		return b.Image.WorkingDir
	}
	return b.Launch.Container.Fallback
}

// user is the caller, unless the job names another, so that files that the task
// writes are the caller's.
func (b Box) user() []string {
	c := b.Launch.Container
	if c.User != "" {
		return []string{"--user", c.User}
	}
	if c.Runtime.Rootless && c.Runtime.Kind == engine.Docker {
		return []string{"--user", "0:0"} // which is the caller outside
	}
	args := []string{"--user", fmt.Sprintf("%d:%d", b.UID, b.GID)}
	if c.Runtime.Rootless {
		return append(args, "--userns", "keep-id")
	}
	for _, g := range c.Groups {
		args = append(args, "--group-add", strconv.Itoa(g))
	}
	return args
}

func (b Box) limits() (args []string) {
	if n := b.Launch.Memory; n > 0 {
		args = append(args, "--memory", strconv.FormatInt(n, 10), "--memory-swap", strconv.FormatInt(n, 10))
	}
	if n := b.Launch.CPUs; n > 0 {
		args = append(args, "--cpus", strconv.FormatFloat(n, 'f', -1, 64))
	}
	if n := b.Launch.Container.Shm; n > 0 && !b.Launch.Container.Ranks { // theirs is a folder
		args = append(args, "--shm-size", strconv.FormatInt(n, 10))
	}
	return args
}

// devices gives the container the task's GPUs, and only those.
func (b Box) devices() (args []string) {
	c := b.Launch.Container
	if len(c.GPUs) > 0 && c.Runtime.Kind == engine.Docker {
		return []string{"--gpus", `"device=` + strings.Join(c.GPUs, ",") + `"`}
	}
	for _, g := range c.GPUs {
		args = append(args, "--device", "nvidia.com/gpu="+g)
	}
	return args
}

func (b Box) security() (args []string) {
	if b.Launch.Container.Runtime.Labels {
		args = append(args, "--security-opt", "label=disable")
	}
	if b.Launch.Container.Privileged {
		args = append(args, "--privileged")
	}
	return args
}

// mounts are what the container sees of the machine. What comes first at a path
// stays.
func (b Box) mounts() ([]string, error) {
	ours := []engine.Mount{{Source: b.Exe, Path: initPath, ReadOnly: true}, {Source: b.Socket, Path: socketPath}}
	var args []string
	seen := map[string]bool{}
	for _, m := range slices.Concat(ours, b.Launch.Container.Mounts, b.Mounts) {
		if seen[m.Path] {
			continue
		}
		seen[m.Path] = true
		arg, err := mountArg(m)
		if err != nil {
			return nil, err
		}
		args = append(args, arg...)
	}
	return args, nil
}

// mountArg prefers the form that refuses a source that is not there; the other
// one would make it.
func mountArg(m engine.Mount) ([]string, error) {
	both, arg := m.Source+m.Path, ""
	switch {
	case !strings.ContainsAny(both, ",\"\n"):
		arg = "type=bind,source=" + m.Source + ",target=" + m.Path
		if m.ReadOnly {
			arg += ",readonly"
		}
		return []string{"--mount", arg}, nil
	case !strings.ContainsAny(both, ":\n"):
		arg = m.Source + ":" + m.Path
		if m.ReadOnly {
			arg += ":ro"
		}
		return []string{"--volume", arg}, nil
	}
	return nil, fmt.Errorf("%q cannot be mounted at %q: no runtime takes a path with both a comma and a colon", m.Source, m.Path)
}

// environ adds what a program expects and the image does not have for a user
// that it does not know.
func (b Box) environ() []string {
	env := slices.Clone(b.Env)
	has := func(name string) bool { return lookup(env, name) != "" || lookup(b.Image.Env, name) != "" }
	if len(b.Launch.Container.GPUs) == 0 && lookup(env, "NVIDIA_VISIBLE_DEVICES") == "" {
		env = append(env, "NVIDIA_VISIBLE_DEVICES=void") // images of NVIDIA's ask for all of them
	}
	if b.Launch.Container.User != "" || b.UID == 0 {
		return env
	}
	if !has("HOME") {
		env = append(env, "HOME=/tmp")
	}
	if !has("USER") {
		env = append(env, "USER="+strconv.Itoa(b.UID))
	}
	return env
}

// splitEnv writes variables as the runtimes read them from a file. Those whose
// values a file cannot hold are passed on by name from values, the environment
// of the runtime's own process.
func splitEnv(env []string) (file []byte, names, values []string) {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if inFile(name) && inFile(value) {
			file = append(file, kv+"\n"...)
			continue
		}
		names, values = append(names, "--env", name), append(values, kv)
	}
	return file, names, values
}

// inFile says that every version of both runtimes reads s from a file as it is.
func inFile(s string) bool {
	const longest = 32 << 10 // they read lines of 64 KiB
	return len(s) < longest && utf8.ValidString(s) && !strings.ContainsAny(s, "\n\r\"'`\\#") && strings.TrimSpace(s) == s
}
