//go:build linux

package enginetest

import (
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// up waits until each of n tasks has written that it is.
func (s *subject) up(n int) {
	s.b.Helper()
	s.until("running tasks", func(r run.Run) bool { return all(r, n, running) })
	s.b.await("the tasks' word", func() bool {
		ready := 0
		for _, out := range s.logs() {
			ready += strings.Count(out, "ready\n")
		}
		return ready == n
	})
}

func stopGrace(b *bench) {
	spec := b.job("plain", sizes{"worker": 3}, "only=worker-0", "ignore=TERM", "only=worker-1", "onterm=5", "print=ready", "forever")
	grace := job.Duration(3 * time.Second)
	spec.Stop.Grace = &grace
	s := b.submit(spec)
	s.up(3)
	s.update(run.Intent{Want: run.WantStop, By: "the test"})
	r := s.end()
	b.want(r, run.Stopped, run.ExitStopped, "muster")
	for name, want := range map[string]engine.Instance{
		"worker-0": {Cause: engine.BySignal, Signal: "KILL"},
		"worker-1": {Cause: engine.ByExit, Code: 5},
		"worker-2": {Cause: engine.BySignal, Signal: "TERM"},
	} {
		if i := b.task(r, name); i.Cause != want.Cause || i.Signal != want.Signal || i.Code != want.Code || !i.Asked {
			b.Errorf("%s: %s, want %s", name, show(i), show(want))
		}
	}
	if out := s.logs()["worker-1 stdout"]; !strings.Contains(out, "got SIGTERM\n") {
		b.Errorf("worker-1 wrote %q", out)
	}
}

// stopForce changes its mind: the first stop would wait for an hour.
func stopForce(b *bench) {
	spec := b.job("plain", sizes{"worker": 2}, "ignore=TERM", "print=ready", "forever")
	grace := job.Duration(time.Hour)
	spec.Stop.Grace = &grace
	s := b.submit(spec)
	s.up(2)
	s.update(run.Intent{Want: run.WantStop, By: "the test"})
	s.until("tasks that are being stopped", func(r run.Run) bool {
		return all(r, 2, func(i engine.Instance) bool { return i.State == engine.Stopping })
	})
	s.update(run.Intent{Want: run.WantStop, Force: true})
	r := s.end()
	b.want(r, run.Stopped, run.ExitStopped, "muster")
	if r.Verdict.Headline != "stopped by the test" {
		b.Errorf("%q", r.Verdict.Headline)
	}
}

func ignoresTerm(b *bench) {
	spec := b.job("plain", sizes{"worker": 3}, "only=worker-0", "wait="+b.path("go"), "only=worker-0", "exit=4",
		"ignore=TERM,HUP,INT", "only=worker-2", "touch="+b.path("go"), "forever")
	grace := job.Duration(time.Second)
	spec.Stop.Grace = &grace
	r := b.try(spec)
	b.want(r, run.Failed, 4, "task")
	b.wantFirst(r, "worker-0", "exited with code 4")
	if i := b.task(r, "worker-2"); i.Signal != "KILL" || !i.Asked {
		b.Errorf("%s", show(i))
	}
}

// Everything that the fake trainer can leave behind: in the task's group, in
// sessions of their own, and orphans with no environment that ignore signals.
var leaveAll = []string{"fork", "setsid", "daemon", "daemon", "ignore=TERM", "setsid", "fork"}

// strays has one task end well and leave all that behind while the other goes
// on, and then fail with the same.
func strays(b *bench) {
	steps := append(append([]string{}, leaveAll...), "only=worker-0", "exit=0", "wait="+b.path("go"), "exit=6")
	spec := b.job("plain", sizes{"worker": 2}, steps...)
	grace := job.Duration(time.Second)
	spec.Stop.Grace = &grace
	s := b.submit(spec)
	s.until("the end of worker-0", func(r run.Run) bool {
		return len(r.Tasks) == 2 && r.Tasks[0].State == engine.Exited && running(r.Tasks[1])
	})
	if left := s.tasks("worker-0"); len(left) > 0 {
		b.Errorf("worker-0 has ended, but its processes %v have not", left)
	}
	b.touch("go")
	r := s.end()
	b.want(r, run.Failed, 6, "task")
}

func straysStopped(b *bench) {
	spec := b.job("plain", sizes{"worker": 2}, append(append([]string{}, leaveAll...), "print=ready", "forever")...)
	grace := job.Duration(time.Second)
	spec.Stop.Grace = &grace
	s := b.submit(spec)
	s.up(2)
	if n := len(s.processes()); n < 2*len(leaveAll) {
		b.Fatalf("only %d processes are there: the check for what is left sees nothing", n)
	}
	s.update(run.Intent{Want: run.WantStop})
	b.want(s.end(), run.Stopped, run.ExitStopped, "muster")
}

func suspended(b *bench) {
	s := b.submit(b.job("plain", sizes{"worker": 2}, "lock="+b.path("alive"), "setsid", "onattempt=1", "forever"))
	s.until("running tasks", func(r run.Run) bool { return all(r, 2, running) })
	s.update(run.Intent{Want: run.WantSuspend, By: "the test"})
	s.until("a suspended run", func(r run.Run) bool { return r.Phase == run.Suspended })
	if pids := append(s.tasks("worker-0"), s.tasks("worker-1")...); len(pids) > 0 {
		b.Errorf("suspended, but %v are there", pids)
	}
	s.update(run.Intent{Want: run.WantRun})
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	if r.Attempt != 2 || r.Restarts != 0 {
		b.Errorf("attempt %d, %d restarts; want 2 and 0", r.Attempt, r.Restarts)
	}
}
