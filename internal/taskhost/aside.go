//go:build linux

package taskhost

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/taskhost/process"
)

// An answer is what a program that we ran aside has said.
type answer struct {
	ok             bool
	stdout, stderr string
}

// aside runs a program that is no task and calls done, in the loop, with its
// answer. All children are reaped in one place, so nobody else can wait for it.
func (h *host) aside(argv, env []string, done func(answer)) {
	out, err := memory()
	if err != nil {
		done(answer{stderr: err.Error()})
		return
	}
	errs, err := memory()
	var pid int
	if err == nil {
		pid, err = h.spawner.Start(process.Command{Argv: argv, Env: env, Dir: "/", Stdout: out, Stderr: errs})
	}
	if err != nil {
		done(answer{stderr: err.Error()})
		return
	}
	h.reaper.Forked()
	h.asides[pid] = func(x process.Exit) {
		done(answer{ok: x.Status.Exited() && x.Status.ExitStatus() == 0, stdout: take(out), stderr: take(errs)})
	}
}

// memory is a file without a name.
func memory() (*os.File, error) {
	fd, err := unix.MemfdCreate("answer", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "answer"), nil
}

// take returns what was written to a file, and closes it.
func take(f *os.File) string {
	defer f.Close()
	b, _ := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	return string(b)
}
