package supervisor

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// A stage is a run with a well-behaved engine, for tests that say what happens
// in the order in which it does.
type stage struct {
	t    *testing.T
	r    run.Run
	d    Decision
	now  time.Time
	last time.Time

	instances map[job.Instance]*engine.Instance
	deaf      bool // the engine does not do what is wanted
	trouble   string
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newStage(t *testing.T, s job.Spec) *stage {
	return &stage{
		t: t, now: epoch, last: epoch.Add(-time.Second), instances: map[job.Instance]*engine.Instance{},
		r: run.Run{ID: "r-1", Spec: s, Phase: run.Pending, Created: epoch, Fence: 7, Grant: &run.Grant{}},
	}
}

// running brings a run to where all its tasks run and have joined.
func running(t *testing.T, s job.Spec) *stage {
	g := newStage(t, s)
	g.step()
	g.step()
	g.step()
	g.phase(run.Running)
	return g
}

// step lets the supervisor decide on what is there now, and the engine obey.
func (g *stage) step() Decision {
	g.t.Helper()
	g.d = Next(g.r, g.observed(), Tick{Elapsed: g.now.Sub(g.last), Now: g.now})
	g.r, g.last = g.d.Run, g.now
	if g.d.Want != nil && !g.deaf {
		g.obey(*g.d.Want)
	}
	return g.d
}

func (g *stage) observed() engine.Observed {
	seen := engine.Observed{Synced: true, Trouble: g.trouble}
	for _, i := range slices.SortedFunc(maps.Keys(g.instances), func(a, b job.Instance) int {
		return strings.Compare(a.String(), b.String())
	}) {
		seen.Instances = append(seen.Instances, *g.instances[i])
	}
	return seen
}

// obey does at once what is wanted; what is asked to end does not end yet.
func (g *stage) obey(want engine.Desired) {
	for _, w := range want.Tasks {
		i := g.instances[w.Instance]
		switch {
		case w.State != engine.Stopped && i == nil:
			g.instances[w.Instance] = &engine.Instance{Instance: w.Instance, State: engine.Holding, Node: "n1", Addr: "127.0.0.1"}
		case w.State == engine.Launched && i.State == engine.Holding:
			i.State, i.Started, i.Pid, i.Joined = engine.Running, g.now, 100, true
		case w.State == engine.Stopped && i != nil && i.State == engine.Holding:
			delete(g.instances, w.Instance)
		case w.State == engine.Stopped && i != nil && i.State == engine.Running:
			i.State, i.Asked = engine.Stopping, true
		}
	}
}

// after lets time pass and decides.
func (g *stage) after(d time.Duration) Decision {
	g.t.Helper()
	g.now = g.now.Add(d)
	return g.step()
}

// intend sets what a person wants and decides.
func (g *stage) intend(i run.Intent) Decision {
	g.t.Helper()
	g.r.Intent = i
	return g.step()
}

// of is the newest instance of a task.
func (g *stage) of(task string) *engine.Instance {
	g.t.Helper()
	var newest *engine.Instance
	for _, i := range g.instances {
		if i.Task.String() == task && (newest == nil || i.Attempt > newest.Attempt || i.Attempt == newest.Attempt && i.Try > newest.Try) {
			newest = i
		}
	}
	if newest == nil {
		g.t.Fatalf("the engine has no %s", task)
	}
	return newest
}

// A death is how an instance ends.
type death func(*engine.Instance)

func exit(code int) death {
	return func(i *engine.Instance) { i.Cause, i.Code = engine.ByExit, code }
}

func signal(name string) death {
	return func(i *engine.Instance) { i.Cause, i.Signal = engine.BySignal, name }
}

func oom(i *engine.Instance) {
	i.Cause, i.Signal, i.Detail = engine.ByOOM, "KILL", "8Gi, its resources.memory; cgroup oom_kill 1"
}

func lost(i *engine.Instance) {
	i.State, i.Cause, i.Detail = engine.Lost, engine.ByLoss, "its task host was killed"
}

// raised is an exception that far before the end.
func raised(before time.Duration, hung bool) death {
	return func(i *engine.Instance) {
		i.Cause, i.Code = engine.ByExit, 1
		i.Raised = &engine.Exception{Type: "ValueError", Text: "bad label", At: i.Ended.Add(-before), Hung: hung, After: before}
	}
}

func portTakenExit(i *engine.Instance) { i.Cause, i.Code, i.PortTaken = engine.ByExit, 1, true }

// die ends tasks in the engine, without deciding.
func (g *stage) die(d death, tasks ...string) {
	g.t.Helper()
	for _, name := range tasks {
		i := g.of(name)
		i.State, i.Ended = engine.Exited, g.now
		d(i)
	}
}

// dieStopping ends everything that was asked to end.
func (g *stage) dieStopping() {
	for _, i := range g.instances {
		if i.State == engine.Stopping {
			i.State, i.Ended, i.Cause, i.Signal = engine.Exited, g.now, engine.BySignal, "TERM"
		}
	}
}

func (g *stage) phase(want run.Phase) {
	g.t.Helper()
	if g.r.Phase != want {
		g.t.Fatalf("phase is %s (%s), want %s", g.r.Phase, g.r.Reason, want)
	}
}

// verdict checks how the run ended.
func (g *stage) verdict(phase run.Phase, headline string, code int) {
	g.t.Helper()
	g.phase(phase)
	v := g.r.Verdict
	if v == nil || v.Headline != headline || v.Exit.Code != code || v.Phase != phase {
		g.t.Fatalf("verdict is %+v, want %s, %q, code %d", v, phase, headline, code)
	}
}

// failsTo lets the gang that has begun to fail end, and checks the verdict.
func (g *stage) failsTo(headline string, code int) {
	g.t.Helper()
	g.step()
	g.now = g.now.Add(100 * time.Millisecond)
	g.dieStopping()
	g.step()
	g.verdict(run.Failed, headline, code)
}

// wanted are the wants by instance, as state words.
func (g *stage) wanted() map[string]engine.WantState {
	all := map[string]engine.WantState{}
	for _, w := range g.d.Want.Tasks {
		all[w.Instance.String()] = w.State
	}
	return all
}

func (g *stage) wants(want map[string]engine.WantState) {
	g.t.Helper()
	if got := g.wanted(); !maps.Equal(got, want) {
		g.t.Fatalf("wanted %v, want %v", got, want)
	}
}

// spec makes a job: "plain worker=2", with changes.
func spec(framework string, roles map[string]int, change ...func(*job.Spec)) job.Spec {
	s := job.Spec{Name: "t", Framework: job.Framework{Name: framework}, Roles: map[string]*job.Role{}}
	for name, n := range roles {
		s.Roles[name] = &job.Role{Replicas: n, Command: []string{"true"}}
	}
	for _, c := range change {
		c(&s)
	}
	return s
}

func torch(n int, change ...func(*job.Spec)) job.Spec {
	return spec("torch", map[string]int{"worker": n}, change...)
}

func plain(n int, change ...func(*job.Spec)) job.Spec {
	return spec("plain", map[string]int{"worker": n}, change...)
}

func mxnet(change ...func(*job.Spec)) job.Spec {
	return spec("mxnet", map[string]int{"scheduler": 1, "server": 1, "worker": 2}, change...)
}

func budget(limit int, scope, when string) func(*job.Spec) {
	return func(s *job.Spec) { s.Restart.Limit, s.Restart.Scope, s.Restart.When = limit, scope, when }
}

func success(rule string) func(*job.Spec) { return func(s *job.Spec) { s.Success = rule } }
