package supervisor

import (
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

func TestSuccessRules(t *testing.T) {
	two := map[string]int{"ps": 1, "worker": 2}
	for _, c := range []struct {
		name     string
		spec     job.Spec
		finish   []string // exit 0, one after the other; the last one decides
		headline string
	}{
		{"torch needs all", torch(3), []string{"worker-2", "worker-0", "worker-1"}, "all 3 workers finished"},
		{"plain needs all", spec("plain", two), []string{"worker-0", "worker-1", "ps-0"}, "ps-0 and both workers finished"},
		{"one task", plain(1), []string{"worker-0"}, "worker-0 finished"},
		{"mxnet needs its workers", mxnet(), []string{"worker-1", "worker-0"}, "both workers finished; server and scheduler ended after them"},
		{"a role", spec("plain", two, success("ps")), []string{"worker-0", "ps-0"}, "ps-0 finished; worker ended after it"},
		{"mpi needs its launcher", spec("mpi", map[string]int{"launcher": 1, "worker": 2}), []string{"worker-1", "worker-0", "launcher-0"}, "launcher-0 and both workers finished"},
		{"any, the first task", plain(3, success("any")), []string{"worker-0"}, "worker-0 finished, which is enough with success: any; the others were ended"},
		{"any, the last task", plain(3, success("any")), []string{"worker-2"}, "worker-2 finished, which is enough with success: any; the others were ended"},
		{"all, said for mxnet", mxnet(success("all")), []string{"worker-0", "worker-1", "server-0", "scheduler-0"}, "scheduler-0, server-0 and both workers finished"},
		{"a role that has no tasks", torch(1, success("scheduler")), []string{"worker-0"}, "worker-0 finished"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := running(t, c.spec)
			for n, task := range c.finish {
				g.die(exit(0), task)
				g.step()
				if last := n == len(c.finish)-1; !last {
					g.phase(run.Running)
				}
			}
			g.after(linger)
			g.dieStopping()
			g.step()
			g.verdict(run.Succeeded, c.headline, 0)
			if g.r.Reason != "" || g.r.Verdict.First != nil {
				t.Errorf("a success has reason %q and failure %v", g.r.Reason, g.r.Verdict.First)
			}
		})
	}
}

func TestHelpersLingerThenAreStopped(t *testing.T) {
	g := running(t, mxnet())
	g.die(exit(0), "worker-0", "worker-1")
	g.step()
	g.phase(run.Ending)
	g.wants(map[string]engine.WantState{"scheduler-0/1.1": launched, "server-0/1.1": launched})
	if g.d.Wake != linger {
		t.Errorf("wake is %s, want %s", g.d.Wake, linger)
	}
	g.after(linger - time.Millisecond)
	g.wants(map[string]engine.WantState{"scheduler-0/1.1": launched, "server-0/1.1": launched})
	g.after(time.Millisecond)
	g.wants(map[string]engine.WantState{"scheduler-0/1.1": stopped, "server-0/1.1": stopped})
	g.dieStopping()
	g.step()
	g.phase(run.Succeeded)
}

func TestHelpersThatEndByThemselves(t *testing.T) {
	g := running(t, mxnet())
	g.die(exit(0), "worker-0", "worker-1")
	g.step()
	g.die(exit(1), "scheduler-0", "server-0") // what helpers do no longer matters
	g.step()
	g.verdict(run.Succeeded, "both workers finished; server and scheduler ended after them", 0)
}

func TestSuccessAndFailureTogether(t *testing.T) {
	g := running(t, mxnet())
	g.die(exit(0), "worker-0", "worker-1")
	g.die(signal("SEGV"), "server-0")
	g.step()
	g.phase(run.Ending)
	g.die(exit(0), "scheduler-0")
	g.step()
	g.phase(run.Succeeded)
}

func TestNoneStaysUp(t *testing.T) {
	g := running(t, plain(2, success("none")))
	g.die(exit(0), "worker-1")
	g.failsTo("worker-1 exited with code 0 but with success: none it should stay up", 1)

	g = running(t, plain(2, success("none"), budget(2, "task", "")))
	g.die(exit(0), "worker-1")
	g.step()
	g.phase(run.Running)
	if g.r.Restarts != 1 {
		t.Errorf("restarts are %d, want 1", g.r.Restarts)
	}
}

// A run that serves restarts by task unless it says otherwise, and has its
// budget again after a calm hour; another run never has.
func TestServingBudgetIsRenewed(t *testing.T) {
	for _, c := range []struct {
		name    string
		spec    job.Spec
		calm    time.Duration
		renewed bool
	}{
		{"an hour", plain(2, success("none"), budget(1, "", "")), calm, true},
		{"less", plain(2, success("none"), budget(1, "", "")), calm - time.Minute, false},
		{"a run that has an end", plain(2, budget(1, "task", "")), calm, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := running(t, c.spec)
			g.die(exit(3), "worker-1")
			g.step()
			g.after(5 * time.Second)
			g.step()
			g.phase(run.Running)
			if got := g.of("worker-1"); got.Try != 2 || got.Attempt != 1 || g.of("worker-0").Try != 1 {
				t.Fatalf("worker-1 was not started again alone: %v", got.Instance)
			}
			g.after(c.calm - 5*time.Second)
			g.die(exit(3), "worker-1")
			g.step()
			if got := g.d.Wake > 0 && g.r.Restarts == 1 && g.r.Progress.Ending == ""; got != c.renewed {
				t.Errorf("restarts %d, ending %q; renewed should be %t", g.r.Restarts, g.r.Progress.Ending, c.renewed)
			}
		})
	}
}

// A gang that cannot take a member back serves as a whole.
func TestServingGangRestartsWhole(t *testing.T) {
	g := running(t, torch(2, success("none"), budget(1, "", "")))
	g.die(exit(0), "worker-1")
	g.step()
	g.dieStopping()
	g.step()
	g.phase(run.Restarting)
}
