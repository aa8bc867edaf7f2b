package supervisor

import (
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// crashAndWait lets the gang fail once and returns how long it is made to wait.
func (g *stage) crashAndWait(d death, tasks ...string) time.Duration {
	g.t.Helper()
	g.die(d, tasks...)
	g.step()
	g.dieStopping()
	g.step()
	g.phase(run.Restarting)
	return g.d.Wake
}

// again waits until the next attempt runs.
func (g *stage) again() {
	g.t.Helper()
	g.after(g.d.Wake)
	g.step()
	g.step()
	g.step()
	g.phase(run.Running)
}

func TestNoRestartUnlessAsked(t *testing.T) {
	for _, d := range []death{exit(1), signal("KILL"), lost, oom} {
		g := running(t, torch(2))
		g.die(d, "worker-0")
		g.step()
		g.dieStopping()
		g.step()
		g.phase(run.Failed)
		if g.r.Attempt != 1 {
			t.Errorf("attempt is %d, want 1", g.r.Attempt)
		}
	}
}

func TestBudgetAndBackoff(t *testing.T) {
	g := running(t, torch(2, budget(9, "", "")))
	want := []time.Duration{5, 10, 20, 40, 80, 160, 300, 300, 300}
	for n, seconds := range want {
		if got := g.crashAndWait(exit(1), "worker-1"); got != seconds*time.Second {
			t.Fatalf("backoff %d is %s, want %ds", n+1, got, seconds)
		}
		g.after(g.d.Wake - ms)
		g.phase(run.Restarting)
		g.again()
		if g.r.Attempt != n+2 || g.r.Restarts != n+1 {
			t.Fatalf("attempt %d after %d restarts, want %d after %d", g.r.Attempt, g.r.Restarts, n+2, n+1)
		}
	}
	g.die(exit(1), "worker-1")
	g.failsTo("worker-1 exited with code 1", 1)
	if len(g.r.Failures) != len(want) || g.r.Restarts != 9 {
		t.Errorf("%d failures and %d restarts are recorded, want %d", len(g.r.Failures), g.r.Restarts, len(want))
	}
}

func TestOwnBackoff(t *testing.T) {
	for _, c := range []struct {
		base time.Duration
		used int
		want time.Duration
	}{
		{0, 0, 5 * time.Second},
		{10 * time.Second, 1, 20 * time.Second},
		{10 * time.Minute, 3, 10 * time.Minute},
		{time.Second, 10000, 5 * time.Minute},
	} {
		if got := backoff(job.Restart{Backoff: job.Duration(c.base)}, c.used); got != c.want {
			t.Errorf("backoff of %s after %d is %s, want %s", c.base, c.used, got, c.want)
		}
	}
}

func TestWhenRetryable(t *testing.T) {
	for _, c := range []struct {
		name  string
		death death
		again bool
	}{
		{"killed", signal("KILL"), true},
		{"killed for memory", oom, false},
		{"its own code", exit(1), false},
		{"the code for it", exit(138), true},
		{"an exception", raised(0, false), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := running(t, torch(2, budget(1, "", "retryable")))
			g.die(c.death, "worker-0")
			g.step()
			g.dieStopping()
			g.step()
			if again := g.r.Phase == run.Restarting; again != c.again {
				t.Errorf("phase is %s, want a restart: %t", g.r.Phase, c.again)
			}
		})
	}
}

func TestWhenOfOneRole(t *testing.T) {
	s := mxnet(budget(1, "", "failure"))
	s.Roles["server"].Restart = &job.RoleRestart{When: "retryable"}
	g := running(t, s)
	g.die(exit(1), "server-0")
	g.failsTo("server-0 exited with code 1", 1)
}

// A lost host costs no budget, but more and more time.
func TestLostHostsAreFree(t *testing.T) {
	g := running(t, torch(2, budget(1, "", "")))
	for _, seconds := range []time.Duration{5, 10, 20} {
		if got := g.crashAndWait(lost, "worker-0", "worker-1"); got != seconds*time.Second {
			t.Errorf("backoff is %s, want %ds", got, seconds)
		}
		g.again()
	}
	if g.r.Restarts != 0 || g.r.Attempt != 4 {
		t.Errorf("%d restarts in attempt %d, want 0 in 4", g.r.Restarts, g.r.Attempt)
	}
	g.crashAndWait(exit(1), "worker-0")
	if g.r.Restarts != 1 {
		t.Errorf("a failure was not charged")
	}
}

// unjoined brings a gang to where all run and nobody has joined.
func unjoined(t *testing.T, s job.Spec) *stage {
	g := newStage(t, s)
	g.step()
	g.step()
	for _, i := range g.instances {
		i.Joined = false
	}
	g.step()
	g.phase(run.Running)
	return g
}

func TestTakenPorts(t *testing.T) {
	g := unjoined(t, torch(2))
	for n := range portRetries {
		g.die(portTakenExit, "worker-0")
		g.step()
		g.dieStopping()
		g.step()
		g.phase(run.Starting) // at once: on other ports
		if g.r.Attempt != n+2 || g.r.Restarts != 0 {
			t.Fatalf("attempt %d with %d restarts, want %d with 0", g.r.Attempt, g.r.Restarts, n+2)
		}
		g.step()
		for _, i := range g.instances {
			i.Joined = false
		}
		g.step()
	}
	g.die(portTakenExit, "worker-0")
	g.failsTo("worker-0 exited with code 1", 1)
}

func TestAPortTakenAfterJoiningIsTheProgramsOwn(t *testing.T) {
	g := running(t, torch(2))
	g.die(portTakenExit, "worker-0")
	g.failsTo("worker-0 exited with code 1", 1)
}

func TestTakenPortsAndLostHostsAreCountedApart(t *testing.T) {
	g := unjoined(t, torch(2, budget(1, "", "")))
	for range portRetries + 1 {
		g.crashAndWait(lost, "worker-0", "worker-1")
		g.after(g.d.Wake)
		g.step()
		for _, i := range g.instances {
			i.Joined = false
		}
		g.step()
	}
	g.die(portTakenExit, "worker-0")
	g.step()
	g.dieStopping()
	g.step()
	g.phase(run.Starting)
	if g.r.Restarts != 0 {
		t.Errorf("a taken port was charged")
	}
}

func TestScopes(t *testing.T) {
	roles := map[string]int{"ps": 2, "worker": 2}
	for _, c := range []struct {
		name string
		spec job.Spec
		want map[string]engine.WantState // after the failure of worker-1
	}{
		{"job", spec("plain", roles, budget(1, "job", "")),
			map[string]engine.WantState{"ps-0/1.1": stopped, "ps-1/1.1": stopped, "worker-0/1.1": stopped}},
		{"role", spec("plain", roles, budget(1, "role", "")),
			map[string]engine.WantState{"ps-0/1.1": launched, "ps-1/1.1": launched, "worker-0/1.1": stopped, "worker-1/1.2": held}},
		{"task", spec("plain", roles, budget(1, "task", "")),
			map[string]engine.WantState{"ps-0/1.1": launched, "ps-1/1.1": launched, "worker-0/1.1": launched, "worker-1/1.2": held}},
		{"task, for a framework that takes nobody back", torch(3, budget(1, "task", "")),
			map[string]engine.WantState{"worker-0/1.1": stopped, "worker-2/1.1": stopped}},
		{"task, without a budget", spec("plain", roles, budget(0, "task", "")),
			map[string]engine.WantState{"ps-0/1.1": stopped, "ps-1/1.1": stopped, "worker-0/1.1": stopped}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := running(t, c.spec)
			g.die(exit(1), "worker-1")
			g.step()
			g.wants(c.want)
		})
	}
}

func TestATaskRestartedAlone(t *testing.T) {
	g := running(t, plain(2, budget(2, "task", "")))
	g.die(exit(1), "worker-1")
	g.step()
	g.phase(run.Running)
	if g.r.Reason == "" || g.r.Restarts != 1 || g.d.Wake != 5*time.Second {
		t.Fatalf("reason %q, %d restarts, wake %s", g.r.Reason, g.r.Restarts, g.d.Wake)
	}
	g.after(4 * time.Second)
	g.wants(map[string]engine.WantState{"worker-0/1.1": launched, "worker-1/1.2": held})
	g.after(time.Second)
	g.wants(map[string]engine.WantState{"worker-0/1.1": launched, "worker-1/1.2": launched})
	g.step()
	if g.r.Reason != "" {
		t.Errorf("reason is still %q", g.r.Reason)
	}
	g.die(exit(0), "worker-0", "worker-1")
	g.step()
	g.verdict(run.Succeeded, "both workers finished", 0)
}

// A task whose turn has come is held before it is launched, however late its
// place is: its launch is made from its address.
func TestATaskIsHeldBeforeItIsLaunchedAgain(t *testing.T) {
	g := running(t, plain(2, budget(2, "task", "")))
	g.die(exit(1), "worker-1")
	g.deaf = true
	g.after(time.Hour)
	g.after(time.Hour)
	g.wants(map[string]engine.WantState{"worker-0/1.1": launched, "worker-1/1.2": held})
}

func TestTwoTasksFailAtOnceAndRestartAlone(t *testing.T) {
	g := running(t, plain(3, budget(2, "task", "")))
	g.die(exit(1), "worker-0", "worker-2")
	g.step()
	g.wants(map[string]engine.WantState{"worker-0/1.2": held, "worker-1/1.1": launched, "worker-2/1.2": held})
	if g.r.Restarts != 2 {
		t.Errorf("restarts are %d, want 2", g.r.Restarts)
	}

	g = running(t, plain(3, budget(1, "task", "")))
	g.die(exit(1), "worker-0", "worker-2")
	g.failsTo("worker-2 exited with code 1", 1) // the budget was enough for one
	if g.r.Restarts != 1 {
		t.Errorf("restarts are %d, want 1", g.r.Restarts)
	}
}

func TestRecordedFailuresAreBounded(t *testing.T) {
	g := running(t, torch(1, budget(1, "", "")))
	for range keptFailures + 5 {
		g.crashAndWait(lost, "worker-0")
		g.again()
	}
	if n := len(g.r.Failures); n != keptFailures {
		t.Errorf("%d failures are kept, want %d", n, keptFailures)
	}
	if last := g.r.Failures[keptFailures-1].Attempt; last != g.r.Attempt-1 {
		t.Errorf("the last failure kept is of attempt %d, want %d", last, g.r.Attempt-1)
	}
}
