package supervisor

import (
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// Teardown starts with the first failure, whatever the failure will be called.
func TestAFailureEndsTheGang(t *testing.T) {
	g := running(t, mxnet())
	g.die(exit(1), "worker-0")
	g.step()
	g.wants(map[string]engine.WantState{"scheduler-0/1.1": stopped, "server-0/1.1": stopped, "worker-1/1.1": stopped})
	for _, w := range g.d.Want.Tasks {
		if w.Signal != "TERM" || w.Grace != job.DefaultGrace {
			t.Errorf("%s is stopped by %s with %s", w.Instance, w.Signal, w.Grace)
		}
	}
}

func TestAHelperThatLeavesEarly(t *testing.T) {
	g := running(t, mxnet())
	g.die(exit(0), "scheduler-0")
	g.step()
	g.phase(run.Running)
	if g.d.Wake != earlyHelper {
		t.Errorf("wake is %s, want %s", g.d.Wake, earlyHelper)
	}
	g.after(earlyHelper - ms)
	g.phase(run.Running)
	g.after(ms)
	g.phase(run.Ending)
	g.failsTo("scheduler-0 exited with code 0 while the others still needed it", 1)
	if by := g.r.Verdict.Exit.By; by != "muster" {
		t.Errorf("the code is by %s, want muster", by)
	}
}

func TestAHelperThatLeavesWithTheOthers(t *testing.T) {
	g := running(t, mxnet())
	g.die(exit(0), "scheduler-0")
	g.step()
	g.after(time.Second)
	g.die(exit(0), "worker-0", "worker-1", "server-0")
	g.step()
	g.phase(run.Succeeded)
}

func TestTroubleWithTheNode(t *testing.T) {
	g := running(t, torch(2, budget(3, "", "")))
	g.trouble = "the disk of /state is full"
	g.step()
	g.phase(run.Ending)
	g.failsTo("the disk of /state is full", run.ExitRefused)
}

func TestAPlaceThatCannotBeHeld(t *testing.T) {
	g := newStage(t, torch(2))
	g.step()
	g.die(func(i *engine.Instance) {
		i.Cause, i.Code, i.Detail = engine.StartFailed, 125, "no port is free"
	}, "worker-1")
	g.step()
	g.wants(map[string]engine.WantState{"worker-0/1.1": stopped})
	g.step()
	g.verdict(run.Failed, "worker-1 could not be started: no port is free", 125)
	if !g.r.Started.IsZero() || g.r.Took != 0 {
		t.Errorf("nothing was launched, but it started %s and took %s", g.r.Started, g.r.Took)
	}
}

func TestNames(t *testing.T) {
	tasks := func(n int) []job.Task { s := plain(n); return s.Tasks() }
	for _, c := range []struct {
		n    int
		want string
	}{
		{0, ""},
		{1, "worker-0"},
		{2, "worker-0, worker-1"},
		{7, "worker-0, worker-1, worker-2, worker-3, worker-4, worker-5, worker-6"},
		{200, "worker-0, worker-1, worker-2, worker-3, worker-4, worker-5 and 194 others"},
	} {
		if got := names(tasks(c.n)); got != c.want {
			t.Errorf("names of %d are %q, want %q", c.n, got, c.want)
		}
	}
}
