package supervisor

import (
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
)

var (
	stop    = run.Intent{Want: run.WantStop, Signal: "TERM", By: "muster stop"}
	ctrlC   = run.Intent{Want: run.WantStop, Signal: "INT", By: "Ctrl-C"}
	suspend = run.Intent{Want: run.WantSuspend, By: "muster suspend"}
	resume  = run.Intent{Want: run.WantRun}
)

func TestStop(t *testing.T) {
	for _, c := range []struct {
		name     string
		intent   run.Intent
		headline string
		code     int
	}{
		{"muster stop", stop, "stopped by muster stop", run.ExitStopped},
		{"Ctrl-C", ctrlC, "stopped by Ctrl-C", run.ExitInterrupted},
		{"hang-up", run.Intent{Want: run.WantStop, Signal: "HUP", By: "SIGHUP"}, "stopped by SIGHUP", 129},
		{"nobody said who", run.Intent{Want: run.WantStop}, "stopped by its user", run.ExitStopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := running(t, torch(2))
			g.intend(c.intent)
			g.phase(run.Ending)
			g.wants(map[string]engine.WantState{"worker-0/1.1": stopped, "worker-1/1.1": stopped})
			g.die(exit(1), "worker-0") // what it says to our signal is no failure
			g.step()
			g.phase(run.Ending)
			g.dieStopping()
			g.step()
			g.verdict(run.Stopped, c.headline, c.code)
		})
	}
}

func TestForceLeavesNoGrace(t *testing.T) {
	g := running(t, torch(1))
	if w := g.intend(stop).Want.Tasks[0]; w.Grace == 0 {
		t.Fatalf("a stop has no grace")
	}
	forced := stop
	forced.Force = true
	if w := g.intend(forced).Want.Tasks[0]; w.Grace != 0 || w.State != stopped {
		t.Errorf("a forced stop wants %+v", w)
	}
}

func TestStopInEveryPhase(t *testing.T) {
	for _, c := range []struct {
		name  string
		stage func(t *testing.T) *stage
		want  run.Phase
	}{
		{"pending", func(t *testing.T) *stage { return newStage(t, torch(2)) }, run.Stopped},
		{"backoff", func(t *testing.T) *stage {
			g := running(t, torch(2, budget(1, "", "")))
			g.crashAndWait(exit(1), "worker-0")
			return g
		}, run.Stopped},
		{"suspended", func(t *testing.T) *stage {
			g := newStage(t, torch(2))
			g.intend(suspend)
			g.phase(run.Suspended)
			return g
		}, run.Stopped},
		{"done", func(t *testing.T) *stage {
			g := running(t, torch(1))
			g.die(exit(0), "worker-0")
			g.step()
			return g
		}, run.Succeeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := c.stage(t)
			g.intend(stop)
			g.phase(c.want)
			if n := len(g.d.Want.Tasks); n != 0 || g.d.Wake != 0 {
				t.Errorf("%d tasks are wanted, wake %s, after the end", n, g.d.Wake)
			}
		})
	}
}

func TestStopWhileEnding(t *testing.T) {
	for _, c := range []struct {
		name  string
		begin func(t *testing.T) *stage
		want  run.Phase
	}{
		{"after success", func(t *testing.T) *stage {
			g := running(t, mxnet())
			g.die(exit(0), "worker-0", "worker-1")
			g.step()
			return g
		}, run.Succeeded},
		{"after a failure, before its cause is chosen", func(t *testing.T) *stage {
			g := running(t, torch(2))
			g.die(exit(1), "worker-0")
			g.step()
			return g
		}, run.Failed},
		{"after a failure for good", func(t *testing.T) *stage {
			g := running(t, torch(2))
			g.die(exit(1), "worker-0")
			g.step()
			g.after(settle)
			return g
		}, run.Failed},
		{"after a failure that would be restarted, before its cause is chosen", func(t *testing.T) *stage {
			g := running(t, torch(2, budget(1, "", "")))
			g.die(exit(1), "worker-0")
			g.step()
			return g
		}, run.Stopped},
		{"after a failure that is being restarted", func(t *testing.T) *stage {
			g := running(t, torch(2, budget(1, "", "")))
			g.die(exit(1), "worker-0")
			g.step()
			g.after(settle)
			g.phase(run.Restarting)
			return g
		}, run.Stopped},
		{"while it is being suspended", func(t *testing.T) *stage {
			g := running(t, torch(2))
			g.intend(suspend)
			return g
		}, run.Stopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := c.begin(t)
			for _, state := range func() map[string]engine.WantState { g.intend(stop); return g.wanted() }() {
				if state != stopped {
					t.Errorf("a task is still wanted as %s", state)
				}
			}
			g.dieStopping()
			g.step()
			g.phase(c.want)
			if g.r.Restarts != 0 {
				t.Errorf("restarts are %d, want 0", g.r.Restarts)
			}
		})
	}
}

func TestSuspendAndResume(t *testing.T) {
	g := running(t, mxnet(budget(1, "", "")))
	g.intend(suspend)
	g.phase(run.Ending)
	g.dieStopping()
	g.step()
	g.phase(run.Suspended)
	if g.r.Reason != "suspended by muster suspend" || g.d.Wake != 0 || len(g.d.Want.Tasks) != 0 {
		t.Errorf("reason %q, wake %s, %d wanted", g.r.Reason, g.d.Wake, len(g.d.Want.Tasks))
	}
	g.after(time.Hour)
	g.phase(run.Suspended)
	g.intend(resume)
	g.phase(run.Starting)
	if g.r.Attempt != 2 || g.r.Restarts != 0 || len(g.r.Failures) != 0 {
		t.Errorf("attempt %d, %d restarts, %d failures; want 2, 0, 0", g.r.Attempt, g.r.Restarts, len(g.r.Failures))
	}
	g.step()
	g.step()
	g.phase(run.Running)
}

// A resume that comes while the tasks are still being ended is not forgotten:
// nothing else would wake the run up.
func TestResumeWhileSuspending(t *testing.T) {
	g := running(t, torch(2))
	g.intend(suspend)
	g.intend(resume)
	g.phase(run.Ending)
	g.dieStopping()
	g.step()
	g.phase(run.Starting)
}

// A failure that was to be restarted is charged, and then the run is suspended.
func TestSuspendWhileRestarting(t *testing.T) {
	g := running(t, torch(2, budget(1, "", "")))
	g.die(exit(1), "worker-0")
	g.step()
	g.intend(suspend)
	g.dieStopping()
	g.step()
	g.phase(run.Suspended)
	if g.r.Attempt != 1 || g.r.Restarts != 1 {
		t.Errorf("attempt %d, %d restarts; want 1, 1", g.r.Attempt, g.r.Restarts)
	}
	g.intend(resume)
	g.phase(run.Starting) // without waiting for the backoff
}

// No attempt begins, and no run ends, while anything may be alive.
func TestEndingWaitsForEveryInstance(t *testing.T) {
	g := running(t, torch(2, budget(1, "", "")))
	g.die(exit(1), "worker-0")
	g.step()
	g.after(time.Hour)
	g.phase(run.Restarting)
	g.wants(map[string]engine.WantState{"worker-1/1.1": stopped})
	g.dieStopping()
	g.step()
	g.phase(run.Restarting)
	if g.r.Attempt != 1 {
		t.Errorf("attempt is %d, want 1", g.r.Attempt)
	}
}
