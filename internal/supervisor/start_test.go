package supervisor

import (
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

const (
	held     = engine.Held
	launched = engine.Launched
	stopped  = engine.Stopped
)

func TestNothingIsLaunchedBeforeEveryPlaceIsHeld(t *testing.T) {
	g := newStage(t, torch(2))
	g.deaf = true
	g.step()
	g.phase(run.Starting)
	g.wants(map[string]engine.WantState{"worker-0/1.1": held, "worker-1/1.1": held})

	one := job.Instance{Task: job.Task{Role: "worker", Index: 0}, Attempt: 1, Try: 1}
	g.instances[one] = &engine.Instance{Instance: one, State: engine.Holding}
	g.step()
	g.wants(map[string]engine.WantState{"worker-0/1.1": held, "worker-1/1.1": held})

	two := job.Instance{Task: job.Task{Role: "worker", Index: 1}, Attempt: 1, Try: 1}
	g.instances[two] = &engine.Instance{Instance: two, State: engine.Holding}
	g.step()
	g.wants(map[string]engine.WantState{"worker-0/1.1": launched, "worker-1/1.1": launched})
	g.phase(run.Starting)

	g.instances[one].State, g.instances[two].State = engine.Running, engine.Starting
	g.step()
	g.phase(run.Starting)
	g.instances[two].State = engine.Running
	g.step()
	g.phase(run.Running)
}

func TestNothingStartsBeforeItIsGranted(t *testing.T) {
	g := newStage(t, torch(1))
	g.r.Grant = nil
	g.after(time.Hour)
	g.phase(run.Pending)
	if len(g.d.Want.Tasks) != 0 || g.d.Wake != 0 {
		t.Errorf("%d wanted, wake %s", len(g.d.Want.Tasks), g.d.Wake)
	}
	g.r.Grant = &run.Grant{}
	g.step()
	g.phase(run.Starting)
}

func TestPortsAreAsked(t *testing.T) {
	g := newStage(t, mxnet())
	for _, w := range g.step().Want.Tasks {
		if w.Instance.Task.Role == "scheduler" && w.Ports == 0 {
			t.Errorf("no port is asked for %s", w.Instance)
		}
	}
	if g.d.Want.Fence != 7 || g.d.Want.Attempt != 1 {
		t.Errorf("fence and attempt are %d and %d, want 7 and 1", g.d.Want.Fence, g.d.Want.Attempt)
	}
}

// Places that vanish before anything was started, as when their host dies, are
// held again and not launched into nothing.
func TestLostPlacesAreHeldAgain(t *testing.T) {
	g := newStage(t, plain(2))
	g.step()
	g.deaf = true
	g.step()
	g.wants(map[string]engine.WantState{"worker-0/1.1": launched, "worker-1/1.1": launched})
	clear(g.instances)
	g.step()
	g.wants(map[string]engine.WantState{"worker-0/1.1": held, "worker-1/1.1": held})
	g.deaf = false
	g.step()
	g.step()
	g.step()
	g.phase(run.Running)
	if g.r.Attempt != 1 {
		t.Errorf("attempt is %d, want 1", g.r.Attempt)
	}
}

func TestWhatAnEngineForgets(t *testing.T) {
	for _, c := range []struct {
		name     string
		before   func(g *stage)
		phase    run.Phase
		headline string
	}{
		{"an exit stays an exit", func(g *stage) {
			g.die(exit(0), "worker-0")
			g.step()
			delete(g.instances, g.of("worker-0").Instance)
			g.die(exit(0), "worker-1")
		}, run.Succeeded, "both workers finished"},
		{"a process is lost", func(g *stage) {
			delete(g.instances, g.of("worker-0").Instance)
			g.die(exit(0), "worker-1")
		}, run.Failed, "worker-0 was lost: its engine no longer knows of it"},
		{"all processes are lost, as after a reboot", func(g *stage) {
			clear(g.instances)
		}, run.Failed, "worker-0 was lost: its engine no longer knows of it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := running(t, plain(2))
			c.before(g)
			g.step()
			g.phase(c.phase)
			if g.r.Verdict.Headline != c.headline {
				t.Errorf("headline is %q, want %q", g.r.Verdict.Headline, c.headline)
			}
		})
	}
}

// An engine that throws away what it was asked to end does not make it the cause.
func TestForgottenWhileEnding(t *testing.T) {
	g := running(t, torch(2))
	g.die(exit(3), "worker-1")
	g.step()
	delete(g.instances, g.of("worker-0").Instance)
	g.step()
	g.verdict(run.Failed, "worker-1 exited with code 3", 3)
}

func TestUnsyncedChangesNothing(t *testing.T) {
	g := running(t, torch(2))
	before := g.r
	d := Next(g.r, engine.Observed{}, Tick{Elapsed: time.Hour, Now: g.now})
	if d.Want != nil || d.Wake != 0 || d.Run.Phase != before.Phase || len(d.Run.Tasks) != 2 {
		t.Errorf("an unsynced observation led to %+v", d)
	}
	if d.Run.Progress.Clock != before.Progress.Clock+time.Hour {
		t.Errorf("time did not pass")
	}
}

// A record of a newer version is not carried out, and what it has running is
// ended before that is said.
func TestUnknownFramework(t *testing.T) {
	g := running(t, plain(1))
	g.r.Spec.Framework.Name = "abacus"
	g.step()
	g.phase(run.Ending)
	g.wants(map[string]engine.WantState{"worker-0/1.1": stopped})
	g.dieStopping()
	g.step()
	g.phase(run.Failed)
	if g.r.Verdict.Exit.Code != run.ExitRefused {
		t.Errorf("exit is %+v, want 125", g.r.Verdict.Exit)
	}
}
