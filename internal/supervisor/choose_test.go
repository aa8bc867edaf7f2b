package supervisor

import (
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

const ms = time.Millisecond

// An end is one task's death, that long after the run's start.
type end struct {
	at    time.Duration
	task  string
	how   death
	asked bool // we had asked it to end by then
}

// TestTheCauseIsNamed has gangs of which several die; however the ends are
// spread over observations, the same one is named.
func TestTheCauseIsNamed(t *testing.T) {
	for _, c := range []struct {
		name     string
		spec     job.Spec
		ends     []end
		headline string
		code     int
	}{
		{"torch: the victim ends after the rank that was killed", torch(2),
			[]end{{0, "worker-1", signal("KILL"), false}, {300 * ms, "worker-0", exit(1), false}},
			"worker-1 was killed from outside (SIGKILL)", 137},
		{"torch: the victim is seen to end before the rank that was killed", torch(2),
			[]end{{0, "worker-0", exit(1), false}, {300 * ms, "worker-1", signal("KILL"), false}},
			"worker-1 was killed from outside (SIGKILL)", 137},
		{"torch: the victim raises", torch(2),
			[]end{{0, "worker-0", raised(100*ms, false), false}, {200 * ms, "worker-1", signal("KILL"), false}},
			"worker-1 was killed from outside (SIGKILL)", 137},
		{"two die at once: the earlier", torch(3),
			[]end{{1 * ms, "worker-0", exit(2), false}, {0, "worker-2", exit(3), false}},
			"worker-2 exited with code 3", 3},
		{"two die in the same instant: the first by name", torch(3),
			[]end{{0, "worker-2", exit(3), false}, {0, "worker-1", exit(2), false}},
			"worker-1 exited with code 2", 2},
		{"raised and hung, while a peer ends with 1 later", torch(2),
			[]end{{0, "worker-0", exit(1), false}, {900 * ms, "worker-1", raised(2*time.Second, true), false}},
			"worker-1 raised ValueError: bad label", 1},
		{"raised, and was ended by us before it had ended by itself", mxnet(),
			[]end{{0, "worker-0", exit(1), false}, {100 * ms, "worker-1", raised(time.Second, false), true}},
			"worker-1 raised ValueError: bad label", 1},
		{"out of memory beats a kill and an exit", torch(3),
			[]end{{0, "worker-0", exit(1), false}, {1 * ms, "worker-1", signal("KILL"), false}, {2 * ms, "worker-2", oom, false}},
			"worker-2 ran out of memory (8Gi, its resources.memory)", 137},
		{"a lost node beats out of memory", torch(2),
			[]end{{0, "worker-0", oom, false}, {1 * ms, "worker-1", lost, false}},
			"worker-1 was lost: its task host was killed", 1},
		{"an abort of a peer does not beat the exception", torch(2),
			[]end{{100 * ms, "worker-0", signal("ABRT"), false}, {500 * ms, "worker-1", raised(500*ms, false), false}},
			"worker-1 raised ValueError: bad label", 1},
		{"an abort that comes first is the cause", torch(2),
			[]end{{0, "worker-1", signal("ABRT"), false}, {100 * ms, "worker-0", exit(1), false}},
			"worker-1 was aborted (SIGABRT)", 134},
		{"a broken pipe does not beat an earlier exit", torch(2),
			[]end{{0, "worker-1", exit(9), false}, {50 * ms, "worker-0", signal("PIPE"), false}},
			"worker-1 exited with code 9", 9},
		{"a crash beats the peers' exits", torch(2),
			[]end{{0, "worker-0", exit(1), false}, {50 * ms, "worker-1", signal("SEGV"), false}},
			"worker-1 was ended by a segmentation fault (SIGSEGV)", 139},
		{"a crash in answer to our own signal does not", torch(2),
			[]end{{0, "worker-0", exit(1), false}, {50 * ms, "worker-1", signal("SEGV"), true}},
			"worker-0 exited with code 1", 1},
		{"a termination from outside beats the peers' exits", torch(2),
			[]end{{0, "worker-0", exit(1), false}, {50 * ms, "worker-1", signal("TERM"), false}},
			"worker-1 was ended by a signal (SIGTERM)", 143},
		{"what we ended is a consequence", torch(2),
			[]end{{0, "worker-1", exit(4), false}, {0, "worker-0", signal("TERM"), true}},
			"worker-1 exited with code 4", 4},
		{"a server that dies takes the others with it", mxnet(),
			[]end{{0, "server-0", signal("KILL"), false}},
			"server-0 was killed from outside (SIGKILL)", 137},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Run("seen together", func(t *testing.T) { seenTogether(t, c.spec, c.ends).failsTo(c.headline, c.code) })
			t.Run("seen one by one", func(t *testing.T) { seenOneByOne(t, c.spec, c.ends).failsTo(c.headline, c.code) })
		})
	}
}

func (g *stage) meet(e end) {
	g.now = epoch.Add(time.Minute + e.at)
	i := g.of(e.task)
	i.State, i.Ended, i.Asked = engine.Exited, g.now, e.asked
	e.how(i)
}

func seenTogether(t *testing.T, s job.Spec, ends []end) *stage {
	g := running(t, s)
	for _, e := range ends {
		g.meet(e)
	}
	g.now = epoch.Add(time.Minute + time.Second)
	return g
}

func seenOneByOne(t *testing.T, s job.Spec, ends []end) *stage {
	g := running(t, s)
	for _, e := range ends {
		g.meet(e)
		g.now = later(g.now, g.last)
		g.step()
	}
	return g
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// The cause is chosen after 3 s even if a task does not end by then, and stays.
func TestTheCauseIsChosenInTime(t *testing.T) {
	g := running(t, torch(3))
	g.die(exit(1), "worker-0")
	g.step()
	g.phase(run.Running)
	if g.d.Wake != settle {
		t.Errorf("wake is %s, want %s", g.d.Wake, settle)
	}
	g.after(settle)
	g.phase(run.Ending)
	g.die(signal("KILL"), "worker-1") // too late, and by our own kill
	g.dieStopping()
	g.step()
	g.verdict(run.Failed, "worker-0 exited with code 1", 1)
}

func TestConsequences(t *testing.T) {
	g := running(t, mxnet())
	g.die(exit(7), "worker-1")
	g.step()
	g.dieStopping()
	g.step()
	got := map[string]string{}
	for _, c := range g.r.Verdict.First.Then {
		got[c.Task.String()] = c.What
	}
	if len(got) != 3 || got["worker-0"] != "was ended (SIGTERM)" || got["worker-1"] != "" {
		t.Errorf("consequences are %v", got)
	}
}
