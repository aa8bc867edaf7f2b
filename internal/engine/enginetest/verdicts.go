//go:build linux

package enginetest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

func success(b *bench) {
	s := b.submit(b.job("mxnet", sizes{"server": 1, "worker": 2}, "join", "only=worker-*", "print=$MUSTER_TASK is done", "only=s*", "forever"))
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	for _, name := range []string{"scheduler-0", "server-0"} {
		if i := b.task(r, name); !i.Asked || i.Signal != "TERM" {
			b.Errorf("%s was to be ended with SIGTERM: %s", name, show(i))
		}
	}
	for _, name := range []string{"worker-0", "worker-1"} {
		if i := b.task(r, name); i.Asked || i.Failed() || i.Started.IsZero() || i.Ended.Before(i.Started) {
			b.Errorf("%s was to end by itself: %s", name, show(i))
		}
		if out := s.logs()[name+" stdout"]; !strings.HasSuffix(out, name+" is done\n") {
			b.Errorf("%s wrote %q", name, out)
		}
	}
}

func failureStops(b *bench) {
	r := b.try(b.job("plain", sizes{"worker": 3}, "only=worker-1", "exit=7", "forever"))
	b.want(r, run.Failed, 7, "task")
	b.wantFirst(r, "worker-1", "exited with code 7")
	if len(r.Verdict.First.Then) != 2 {
		b.Fatalf("the others: %s", show(r.Verdict.First.Then))
	}
	for _, c := range r.Verdict.First.Then {
		if c.What != "was ended (SIGTERM)" {
			b.Errorf("%s %s", c.Task, c.What)
		}
	}
}

// firstFailure has three ranks that exit with 1 because a fourth was killed:
// the earliest exit may well be one of theirs.
func firstFailure(b *bench) {
	r := b.try(b.job("torch", sizes{"worker": 4}, "join=strict", "only=worker-2", "signal=KILL", "forever"))
	b.want(r, run.Failed, 137, "task")
	b.wantFirst(r, "worker-2", "killed from outside")
	if n := len(r.Verdict.First.Then); n != 3 {
		b.Errorf("%d of 3 consequences", n)
	}
}

func killedFromOutside(b *bench) {
	s := b.submit(b.job("plain", sizes{"worker": 3}, "print=up", "forever"))
	s.until("running tasks", func(r run.Run) bool { return all(r, 3, running) })
	var pids []int
	b.await("the process of worker-2", func() bool { pids = s.tasks("worker-2"); return len(pids) == 1 })
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		b.Fatal(err)
	}
	r := s.end()
	b.want(r, run.Failed, 137, "task")
	if i := b.wantFirst(r, "worker-2", "killed from outside"); i.Cause != engine.BySignal || i.Signal != "KILL" || i.Asked {
		b.Errorf("%s", show(i))
	}
}

// hostKilled takes a host away under a plane: that is nobody's fault and, with
// a budget, costs nothing of it.
func hostKilled(b *bench) {
	if b.o.Host == nil {
		b.Skip("this engine has no task host")
	}
	spec := b.job("plain", sizes{"worker": 2}, "lock="+b.path("alive"), "setsid", "onattempt=1", "forever")
	spec.Restart.Limit = 1
	s := b.submit(spec)
	s.until("running tasks", func(r run.Run) bool { return all(r, 2, running) })
	s.killHost()
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	if r.Attempt != 2 || r.Restarts != 0 || len(r.Failures) != 1 || r.Failures[0].Class != run.NodeLost {
		b.Errorf("attempt %d, %d restarts, failures %s", r.Attempt, r.Restarts, show(r.Failures))
	}
}

// killHost ends what runs the tasks, as a crash would.
func (s *subject) killHost() {
	s.b.Helper()
	pid, err := s.b.o.Host(s.dir)
	if err != nil || pid <= 1 { // 0 and below would be many processes
		s.b.Fatalf("no host is known: %d, %v", pid, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.b.Fatal(err)
	}
}

func crash(b *bench) {
	r := b.try(b.job("plain", sizes{"worker": 1}, "signal=SEGV"))
	b.want(r, run.Failed, 139, "task")
	b.wantFirst(r, "worker-0", "segmentation fault")
}

func startErrors(b *bench) {
	file := func(name, text string, mode os.FileMode) string {
		if err := os.WriteFile(b.path(name), []byte(text), mode); err != nil {
			b.Fatal(err)
		}
		return b.path(name)
	}
	for _, c := range []struct {
		name, program, workdir string
		code                   int
		words                  string
	}{
		{"not in PATH", "no-such-program", "", 127, "no-such-program: not found in PATH"},
		{"not at its path", filepath.Join(b.work, "none"), "", 127, "not found"},
		{"not executable", file("plain", "#!/bin/sh\n", 0o644), "", 126, "not executable"},
		{"a folder", b.work, "", 126, "not executable"},
		{"no program", file("text", "hello\n", 0o755), "", 126, "not a program"},
		{"no interpreter", file("script", "#!/no/such/sh\n", 0o755), "", 127, "interpreter"},
		{"no folder to run in", Binary("trainer"), "missing", 126, "missing is not there"},
	} {
		spec := b.command("plain", sizes{"worker": 1}, c.program, "exit=0")
		spec.Roles["worker"].Workdir = c.workdir
		spec.Roles["other"] = &job.Role{Replicas: 1, Command: []string{Binary("trainer"), "forever"}}
		r := b.try(spec)
		b.want(r, run.Failed, c.code, "task")
		if i := b.wantFirst(r, "worker-0", c.words); i.Cause != engine.StartFailed {
			b.Errorf("%s: %s", c.name, show(i))
		}
	}
}
