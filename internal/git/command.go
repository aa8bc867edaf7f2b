//go:build linux

package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A repository is a folder that git works in.
type repository struct {
	git string // the program
	dir string
	env []string
}

// open finds git as env has it. The folder need not be a repository yet.
func open(r Remote, dir string, env []string) (*repository, error) {
	path := find(env)
	if path == "" {
		return nil, refused("needs git, which is not on PATH", "on Debian: apt-get install git; or get the repository elsewhere and give code: PATH")
	}
	return &repository{git: path, dir: dir, env: environment(r, env)}, nil
}

func find(env []string) string {
	for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, "git")); err == nil && filepath.IsAbs(path) {
			return path
		}
	}
	return ""
}

// foreign are variables by which a git around us, whose hook we may be, tells
// where it works, and those by which somebody would be asked something.
var foreign = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE",
	"GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_IMPLICIT_WORK_TREE",
	"GIT_INTERNAL_SUPER_PREFIX", "GIT_TEMPLATE_DIR", "GIT_CONFIG", "GIT_QUARANTINE_PATH", "GIT_DEFAULT_HASH",
	"GIT_TRACE", "GIT_TRACE_CURL", "GIT_CURL_VERBOSE", "GIT_TRACE_PACKET", // they may show a password
	"SSH_ASKPASS", "LANGUAGE",
}

// remote is what the repository is called; its URL is in the environment, as
// anybody may read the arguments of a program.
const remote = "muster"

// environment is the user's own, with all settings and helpers, but nobody is
// asked anything, and no other transport is taken.
func environment(r Remote, env []string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(foreign, name) && name != "GIT_CONFIG_COUNT" {
			out = append(out, kv)
		}
	}
	out = append(out, "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "SSH_ASKPASS_REQUIRE=never", "LC_ALL=C",
		"GIT_ALLOW_PROTOCOL="+strings.Join(transports, ":"), "GIT_HTTP_LOW_SPEED_LIMIT=1", "GIT_HTTP_LOW_SPEED_TIME=60")
	settings := [][2]string{
		{"remote." + remote + ".url", r.URL}, {"core.hooksPath", "/dev/null"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
		{"advice.detachedHead", "false"}, {"fetch.recurseSubmodules", "false"}, {"submodule.recurse", "false"},
	}
	settings, login := withLogin(settings, r)
	out = append(out, login...)
	n, _ := strconv.Atoi(lookup(env, "GIT_CONFIG_COUNT"))
	for i, s := range settings {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n+i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n+i, s[1]))
	}
	return append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n+len(settings)))
}

// helper answers git's question with what the environment has: in its URL git
// would pass a password on as an argument.
const helper = `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$MUSTER_GIT_USER" "$MUSTER_GIT_PASSWORD"; }; f`

func withLogin(settings [][2]string, r Remote) ([][2]string, []string) {
	if r.login == nil {
		return settings, nil
	}
	password, ok := r.login.Password()
	if ok { // nobody else is asked, or told
		settings = append(settings, [2]string{"credential.helper", ""})
	}
	settings = append(settings, [2]string{"credential.username", r.login.Username()}, [2]string{"credential.helper", helper})
	return settings, []string{"MUSTER_GIT_USER=" + r.login.Username(), "MUSTER_GIT_PASSWORD=" + password}
}

// ask runs git in the repository and returns what it writes. It is ended with
// all that it has started when ctx or the time is over.
func (r *repository) ask(ctx context.Context, limit time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.git, args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	// Without a terminal nothing can ask there. If we are killed it shall not go on.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	runtime.LockOSThread() // it is this thread's death that it would be told
	err := cmd.Run()
	runtime.UnlockOSThread()
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return "", &failure{words: fmt.Sprintf("there was no end to it after %s", limit), late: true}
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", &failure{words: complaint(errs.String(), err)}
	}
	return out.String(), nil
}

func lookup(env []string, name string) (value string) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// makeDir makes the repository's folder, for its owner alone.
func (r *repository) makeDir() error { return os.MkdirAll(r.dir, 0o700) }
