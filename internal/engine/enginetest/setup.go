//go:build linux

package enginetest

import (
	"os"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
)

// setupFirst has every task find what its setup made, and one be ended by a
// signal that a shell around it would have told as an exit code.
func setupFirst(b *bench) {
	spec := b.job("plain", sizes{"worker": 2}, "wait="+b.path("worker-0"), "wait="+b.path("worker-1"), "print=ready", "only=worker-0", "exit=0", "forever")
	spec.Roles["worker"].Setup = "true\n" + `echo "set up" && touch ` + b.work + `/$MUSTER_TASK`
	spec.Success = "any"
	s := b.submit(spec)
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	if i := b.task(r, "worker-1"); i.Cause != engine.BySignal || i.Signal != "TERM" {
		b.Errorf("%s", show(i))
	}
	if out := s.logs()["worker-0 stdout"]; out != "set up\nready\n" {
		b.Errorf("worker-0 wrote %q", out)
	}
}

// setupFails stops at the first command that fails; the task's own never runs.
func setupFails(b *bench) {
	spec := b.job("plain", sizes{"worker": 2}, "record="+b.path("starts"), "forever")
	spec.Roles["worker"].Setup = "if [ $MUSTER_TASK = worker-1 ]; then echo no such package >&2; sh -c 'exit 9'; touch " + b.path("further") + "; fi"
	s := b.submit(spec)
	r := s.end()
	b.want(r, run.Failed, 9, "task")
	if i := b.wantFirst(r, "worker-1", "could not be started: its setup failed with code 9"); i.Cause != engine.StartFailed {
		b.Errorf("%s", show(i))
	}
	if f := r.Verdict.First; f.Class != run.Permanent {
		b.Errorf("%s", f.Class)
	}
	if out := s.logs()["worker-1 stderr"]; out != "no such package\n" {
		b.Errorf("worker-1 wrote %q", out)
	}
	if _, err := os.Stat(b.path("further")); err == nil || b.lines("starts", "worker-1") != 0 {
		b.Errorf("worker-1 went on after its setup had failed")
	}
}

func setupStopped(b *bench) {
	spec := b.job("plain", sizes{"worker": 1}, "record="+b.path("starts"), "forever")
	spec.Roles["worker"].Setup = "echo ready\nsleep 1000\n"
	s := b.submit(spec)
	s.up(1)
	s.update(run.Intent{Want: run.WantStop, By: "the test"})
	r := s.end()
	b.want(r, run.Stopped, run.ExitStopped, "muster")
	if i := b.task(r, "worker-0"); !i.Asked || strings.Contains(i.Detail, "setup") {
		b.Errorf("%s", show(i))
	}
}
