//go:build linux

// Package process runs processes well on one Linux machine: it starts them from
// one thread, reaps them and everything they leave behind in one loop, finds
// and ends their descendants, holds their ports and reads the kernel's evidence
// about them. It knows nothing of runs or owners.
package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Spawner forks from one locked thread, so that what the kernel ties to the
// forking thread (the death signal, capabilities) is tied to one that lives as
// long as the process.
type Spawner struct {
	requests chan spawn
}

type spawn struct {
	cmd  Command
	done chan spawned
}

type spawned struct {
	pid int
	err error
}

// A Command is a process to be started.
type Command struct {
	Argv   []string
	Env    []string
	Dir    string
	Stdout *os.File
	Stderr *os.File

	// Orphan says that the process may outlive us.
	Orphan bool
	// CgroupFD is an open cgroup v2 folder to start in; 0 for none.
	CgroupFD int
}

// NewSpawner starts the forking thread.
func NewSpawner() (*Spawner, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	s := &Spawner{requests: make(chan spawn)}
	go s.loop(null)
	return s, nil
}

func (s *Spawner) loop(null *os.File) {
	runtime.LockOSThread()
	// Tasks must not inherit what we needed to set up our namespaces.
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	for r := range s.requests {
		pid, err := fork(r.cmd, null)
		r.done <- spawned{pid, err}
	}
}

// Start starts c in a session of its own. A command that cannot be executed is
// a StartError.
func (s *Spawner) Start(c Command) (int, error) {
	done := make(chan spawned)
	s.requests <- spawn{c, done}
	r := <-done
	return r.pid, r.err
}

// A StartError says why a command could not be started, with the exit code that
// a shell gives for it.
type StartError struct {
	Code int
	Text string
}

func (e *StartError) Error() string { return e.Text }

func fork(c Command, null *os.File) (int, error) {
	path, err := lookPath(c.Argv[0], c.Dir, c.Env)
	if err != nil {
		return 0, err
	}
	out, errs := c.Stdout, c.Stderr
	if out == nil {
		out = null
	}
	if errs == nil {
		errs = null
	}
	sys := &syscall.SysProcAttr{Setsid: true}
	if !c.Orphan {
		sys.Pdeathsig = syscall.SIGKILL
	}
	if c.CgroupFD != 0 {
		sys.UseCgroupFD, sys.CgroupFD = true, c.CgroupFD
	}
	pid, err := syscall.ForkExec(path, c.Argv, &syscall.ProcAttr{
		Dir: c.Dir, Env: c.Env, Sys: sys,
		Files: []uintptr{null.Fd(), out.Fd(), errs.Fd()},
	})
	if err != nil {
		return 0, startError(path, c.Dir, err)
	}
	return pid, nil
}

// startError turns what the kernel said into what a user can act on.
func startError(path, dir string, err error) error {
	if st, serr := os.Stat(dir); dir != "" && (serr != nil || !st.IsDir()) {
		return &StartError{126, fmt.Sprintf("its working directory %s is not there", dir)}
	}
	switch {
	case errors.Is(err, syscall.ENOENT):
		if _, serr := os.Stat(path); serr == nil {
			return &StartError{127, fmt.Sprintf("%s is there, but the interpreter that its first line names is not", path)}
		}
		return &StartError{127, path + ": not found"}
	case errors.Is(err, syscall.EACCES):
		return &StartError{126, path + ": not executable (chmod +x?)"}
	case errors.Is(err, syscall.ENOEXEC):
		return &StartError{126, path + ": not a program (no #! line?)"}
	case errors.Is(err, syscall.E2BIG):
		return &StartError{126, path + ": its arguments and environment are too long for the kernel"}
	}
	return &StartError{126, fmt.Sprintf("%s: %v", path, err)}
}

// lookPath finds a program as a shell would in the task's own PATH and folder.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	path := "/usr/local/bin:/usr/bin:/bin"
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	unfit := ""
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		p := filepath.Join(d, name)
		st, err := os.Stat(p)
		switch {
		case err != nil || st.IsDir():
		case st.Mode()&0o111 != 0:
			return p, nil
		case unfit == "":
			unfit = p
		}
	}
	if unfit != "" {
		return "", &StartError{126, unfit + ": not executable (chmod +x?)"}
	}
	return "", &StartError{127, name + ": not found in PATH"}
}
