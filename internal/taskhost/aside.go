//go:build linux

package taskhost

import "muster.dev/muster/internal/taskhost/process"

// An answer is what a program that we ran aside has said.
type answer struct {
	ok             bool
	stdout, stderr string
}

// aside runs a program that is no task and calls done, in the loop, with its
// answer. All children are reaped in one place, so nobody else can wait for it.
func (h *host) aside(argv, env []string, done func(answer)) {
	out, err := process.Memory()
	if err != nil {
		done(answer{stderr: err.Error()})
		return
	}
	errs, err := process.Memory()
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
		done(answer{ok: x.Status.Exited() && x.Status.ExitStatus() == 0, stdout: process.Take(out), stderr: process.Take(errs)})
	}
}
