package supervisor

import (
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

func limits(l job.Limits) func(*job.Spec) { return func(s *job.Spec) { s.Limits = l } }

const minute = job.Duration(time.Minute)

func TestRunLimit(t *testing.T) {
	g := running(t, torch(2, limits(job.Limits{Run: minute})))
	if g.d.Wake != time.Minute {
		t.Errorf("wake is %s, want 1m", g.d.Wake)
	}
	g.after(time.Minute - ms)
	g.phase(run.Running)
	g.after(ms)
	g.phase(run.Ending)
	g.failsTo("the run took longer than limits.run, 1m", run.ExitLimit)
}

// The limit is for all attempts together, backoff included, and no restart follows.
func TestRunLimitAcrossAttempts(t *testing.T) {
	g := running(t, torch(2, limits(job.Limits{Run: minute}), budget(5, "", "")))
	g.after(50 * time.Second)
	g.crashAndWait(exit(1), "worker-0")
	g.again()
	if g.d.Wake != 5*time.Second {
		t.Errorf("wake is %s, want the 5s that are left", g.d.Wake)
	}
	g.after(5 * time.Second)
	g.failsTo("the run took longer than limits.run, 1m", run.ExitLimit)
	if g.r.Attempt != 2 || len(g.r.Failures) != 1 {
		t.Errorf("attempt %d after %d failures, want 2 after 1", g.r.Attempt, len(g.r.Failures))
	}
}

func TestRunLimitDuringBackoff(t *testing.T) {
	g := running(t, torch(2, limits(job.Limits{Run: minute}), budget(5, "", "")))
	g.after(57 * time.Second)
	if wake := g.crashAndWait(exit(1), "worker-0"); wake != 3*time.Second {
		t.Errorf("wake is %s, want the 3s that are left of the limit", wake)
	}
	g.after(3 * time.Second)
	g.verdict(run.Failed, "the run took longer than limits.run, 1m", run.ExitLimit)
}

func TestRunLimitDoesNotCountSuspension(t *testing.T) {
	g := running(t, torch(1, limits(job.Limits{Run: minute})))
	g.after(50 * time.Second)
	g.intend(run.Intent{Want: run.WantSuspend})
	g.dieStopping()
	g.step()
	g.phase(run.Suspended)
	g.after(12 * time.Hour)
	g.intend(run.Intent{Want: run.WantRun})
	g.step()
	g.step()
	g.phase(run.Running)
	if g.d.Wake != 10*time.Second {
		t.Errorf("wake is %s, want the 10s that are left", g.d.Wake)
	}
}

func TestRunLimitDoesNotCountWaitingForPlaces(t *testing.T) {
	g := newStage(t, torch(1, limits(job.Limits{Run: minute})))
	g.deaf = true
	g.step()
	g.after(time.Hour)
	g.phase(run.Starting)
	if g.d.Wake != 0 {
		t.Errorf("wake is %s, want none", g.d.Wake)
	}
}

func TestQueueLimit(t *testing.T) {
	g := newStage(t, torch(1, limits(job.Limits{Queue: minute}), budget(3, "", "")))
	g.r.Grant, g.r.Reason = nil, "1 of 2 GPUs free, it needs 2"
	g.step()
	g.phase(run.Pending)
	if g.d.Wake != 59*time.Second {
		t.Errorf("wake is %s, want 59s", g.d.Wake)
	}
	g.after(59 * time.Second)
	g.verdict(run.Failed, "the run waited longer than limits.queue, 1m: 1 of 2 GPUs free, it needs 2", run.ExitLimit)
}

// Where an engine finds the places itself, that is the queue.
func TestQueueLimitOnPlaces(t *testing.T) {
	g := newStage(t, torch(2, limits(job.Limits{Queue: minute})))
	g.step()
	delete(g.instances, g.of("worker-1").Instance)
	g.deaf = true
	g.after(time.Minute)
	g.phase(run.Ending)
	g.wants(map[string]engine.WantState{"worker-0/1.1": stopped})

	g = running(t, torch(2, limits(job.Limits{Queue: minute})))
	g.after(time.Hour)
	g.phase(run.Running)
}

func TestRendezvousLimit(t *testing.T) {
	g := unjoined(t, torch(3, limits(job.Limits{Rendezvous: minute})))
	g.of("worker-1").Joined = true
	g.step()
	if g.d.Wake != time.Minute {
		t.Errorf("wake is %s, want 1m", g.d.Wake)
	}
	g.after(time.Minute)
	g.failsTo("worker-0, worker-2 did not join the others within limits.rendezvous, 1m", run.ExitLimit)
	if n := len(g.r.Verdict.First.Missing); n != 2 {
		t.Errorf("%d tasks are missing, want 2", n)
	}
}

func TestRendezvousLimitIsTenMinutes(t *testing.T) {
	g := unjoined(t, mxnet())
	g.after(10*time.Minute - ms)
	g.phase(run.Running)
	g.after(ms)
	g.phase(run.Ending)
}

func TestNoRendezvousLimit(t *testing.T) {
	inferred := func(s *job.Spec) { s.Framework.Inferred = true }
	for _, c := range []struct {
		name string
		g    *stage
	}{
		{"for a framework that does not gather", unjoined(t, plain(2))},
		{"once all have joined", running(t, torch(2))},
		{"for a torch that nobody named and nothing shows", unjoined(t, torch(2, inferred))},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.g.t = t
			c.g.after(time.Hour)
			c.g.phase(run.Running)
		})
	}
	g := unjoined(t, torch(2, inferred))
	g.of("worker-0").Joined = true
	g.after(time.Hour)
	g.phase(run.Ending)
}

// Who has joined once may leave the rendezvous later.
func TestJoinedIsForTheAttempt(t *testing.T) {
	g := running(t, torch(2))
	g.of("worker-1").Joined = false
	g.after(time.Hour)
	g.phase(run.Running)
}

func TestStall(t *testing.T) {
	g := running(t, torch(2, limits(job.Limits{Stall: minute})))
	silent := func(zero, one time.Duration) {
		g.of("worker-0").Usage = engine.Usage{Silent: zero, CPU: 1}
		g.of("worker-1").Usage = engine.Usage{Silent: one, CPU: 0.004}
	}
	silent(20*time.Second, 5*time.Minute)
	g.after(time.Hour)
	g.phase(run.Running) // one is silent for long, but not all
	if g.d.Wake != 40*time.Second {
		t.Errorf("wake is %s, want 40s", g.d.Wake)
	}
	silent(60*time.Second, 6*time.Minute)
	g.after(40 * time.Second)
	g.failsTo("worker-1 was silent longest (6m0s, cpu 0%), and no task wrote anything for limits.stall, 1m", run.ExitLimit)
	if g.r.Verdict.First.Instance.Usage != (engine.Usage{}) {
		t.Errorf("usage is stored")
	}
}

func TestNoStallLimitMeansNoAction(t *testing.T) {
	g := running(t, torch(1))
	g.of("worker-0").Usage.Silent = 24 * time.Hour
	g.after(24 * time.Hour)
	g.phase(run.Running)
	if g.d.Wake != 0 {
		t.Errorf("wake is %s, want none", g.d.Wake)
	}
}

func TestLimitsAreRestarted(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T) *stage
	}{
		{"rendezvous", func(t *testing.T) *stage {
			return unjoined(t, torch(2, limits(job.Limits{Rendezvous: minute}), budget(1, "", "retryable")))
		}},
		{"stall", func(t *testing.T) *stage {
			g := running(t, torch(2, limits(job.Limits{Stall: minute}), budget(1, "", "retryable")))
			g.of("worker-0").Usage.Silent, g.of("worker-1").Usage.Silent = time.Minute, time.Minute
			return g
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := c.make(t)
			g.after(time.Minute)
			g.phase(run.Restarting)
			g.dieStopping()
			g.step()
			g.again()
			if g.r.Restarts != 1 {
				t.Errorf("restarts are %d, want 1", g.r.Restarts)
			}
		})
	}
}
