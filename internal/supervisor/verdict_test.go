package supervisor

import (
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
)

func TestFailureExit(t *testing.T) {
	of := func(kind run.FailureKind, d death) *run.Failure {
		f := &run.Failure{Kind: kind, Class: run.Permanent}
		if d != nil {
			i := ended(d)
			f.Instance = &i
			f.Class, _ = classify(i, nil)
		}
		return f
	}
	for _, c := range []struct {
		name string
		f    *run.Failure
		want run.Exit
	}{
		{"its own code", of(run.OfTask, exit(42)), run.Exit{Code: 42, By: "task"}},
		{"a signal", of(run.OfTask, signal("KILL")), run.Exit{Code: 137, By: "task"}},
		{"a real-time signal", of(run.OfTask, signal("signal 40")), run.Exit{Code: 168, By: "task"}},
		{"out of memory", of(run.OfTask, oom), run.Exit{Code: 137, By: "task"}},
		{"raised and hung", of(run.OfTask, raised(time.Second, true)), run.Exit{Code: 1, By: "task"}},
		{"not found", of(run.OfTask, func(i *engine.Instance) { i.Cause, i.Code = engine.StartFailed, 127 }), run.Exit{Code: 127, By: "task"}},
		{"not executable", of(run.OfTask, func(i *engine.Instance) { i.Cause, i.Code = engine.StartFailed, 126 }), run.Exit{Code: 126, By: "task"}},
		{"lost", of(run.OfTask, lost), run.Exit{Code: 1, By: "muster"}},
		{"unhealthy", of(run.OfTask, func(i *engine.Instance) { i.Cause = engine.ByHealth }), run.Exit{Code: 124, By: "muster"}},
		{"too much output", of(run.OfTask, func(i *engine.Instance) { i.Cause = engine.ByLogLimit }), run.Exit{Code: 124, By: "muster"}},
		{"too early", of(run.OfEarlyExit, exit(0)), run.Exit{Code: 1, By: "muster"}},
		{"run limit", of(run.OfRunLimit, nil), run.Exit{Code: 124, By: "muster"}},
		{"queue limit", of(run.OfQueueLimit, nil), run.Exit{Code: 124, By: "muster"}},
		{"rendezvous limit", of(run.OfRendezvous, nil), run.Exit{Code: 124, By: "muster"}},
		{"stall limit", of(run.OfStall, exit(0)), run.Exit{Code: 124, By: "muster"}},
		{"node", of(run.OfNode, nil), run.Exit{Code: 125, By: "muster"}},
		{"refused", of(run.OfRefusal, nil), run.Exit{Code: 125, By: "muster"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := failureExit(c.f); got != c.want {
				t.Errorf("exit is %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestTookCountsFromTheFirstLaunch(t *testing.T) {
	g := newStage(t, torch(1))
	g.deaf = true
	g.step()
	g.after(time.Hour) // waiting for a place
	g.deaf = false
	g.step()
	g.step()
	g.step()
	g.after(90 * time.Second)
	g.die(exit(0), "worker-0")
	g.step()
	g.phase(run.Succeeded)
	if g.r.Took != 90*time.Second || !g.r.Ended.Equal(g.now) {
		t.Errorf("it took %s and ended %s, want 1m30s and %s", g.r.Took, g.r.Ended, g.now)
	}
}

func TestATerminalPhaseStays(t *testing.T) {
	g := running(t, torch(1))
	g.die(exit(0), "worker-0")
	g.step()
	before := g.r
	g.of("worker-0").State = engine.Running // whatever the engine says now
	g.after(time.Hour)
	if g.r.Phase != before.Phase || g.r.Progress.Clock != before.Progress.Clock || g.r.Verdict != before.Verdict {
		t.Errorf("a run that had ended changed to %+v", g.r)
	}
}
