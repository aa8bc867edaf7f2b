//go:build linux

package control

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store/memory"
)

// A scripted engine ends every task at once, with the code that its command says.
type scripted struct {
	mu   sync.Mutex
	seen map[string][]engine.Instance
}

func (e *scripted) Capabilities() engine.Capabilities        { return engine.Capabilities{Name: "scripted"} }
func (e *scripted) Forget(context.Context, engine.Run) error { return nil }

func (e *scripted) Apply(_ context.Context, r engine.Run, want engine.Desired) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []engine.Instance
	for _, w := range want.Tasks {
		i := engine.Instance{Instance: w.Instance, State: engine.Holding, Addr: "127.0.0.1"}
		if w.Launch != nil {
			i.State, i.Cause, i.Ended = engine.Exited, engine.ByExit, time.Now()
			if w.Launch.Argv[len(w.Launch.Argv)-1] == "fail" {
				i.Code = 7
			}
		}
		all = append(all, i)
	}
	e.seen[r.ID] = all
	return nil
}

func (e *scripted) Watch(ctx context.Context, r engine.Run, seen func(engine.Observed) error) error {
	for {
		e.mu.Lock()
		o := engine.Observed{Synced: true, Instances: e.seen[r.ID], Nodes: map[string]engine.Node{"": {}}}
		e.mu.Unlock()
		if err := seen(o); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

// groupPlane owns every run in this process, as "muster own" would.
func groupPlane(t *testing.T) *Plane {
	p := New(Config{StateDir: t.TempDir(), Store: memory.New(), Engine: &scripted{seen: map[string][]engine.Instance{}}})
	p.start = func(id string) error {
		go func() { _ = p.Own(context.Background(), id, false) }()
		return nil
	}
	return p
}

func submission(command string) run.Submission {
	return run.Submission{Spec: job.Spec{
		Framework: job.Framework{Name: "plain"},
		Roles:     map[string]*job.Role{"worker": {Replicas: 1, Command: []string{command}}},
	}}
}

// runGroup submits a group and returns its runs, by job, when all have ended.
func runGroup(t *testing.T, p *Plane, g job.Group, commands map[string]string) map[string]run.Run {
	t.Helper()
	g.Name = "night"
	s := run.GroupSubmission{Group: g, Jobs: map[string]run.Submission{}}
	s.Group.Jobs = map[string]*job.Spec{}
	for name, c := range commands {
		s.Jobs[name] = submission(c)
		s.Group.Jobs[name] = &job.Spec{}
	}
	runs, err := p.SubmitGroup(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]run.Run{}
	for _, r := range runs {
		if err := p.Watch(t.Context(), r.ID, func(now run.Run) error { r = now; return nil }); err != nil {
			t.Fatal(err)
		}
		out[r.Group.Job] = r
	}
	return out
}

func TestGroupRunsInOrderAndSkips(t *testing.T) {
	got := runGroup(t, groupPlane(t), job.Group{Needs: map[string]map[string]string{
		"train":  {"data": "success"},
		"eval":   {"train": "success"},
		"deploy": {"eval": "success"},
		"report": {"train": "done", "eval": "done"},
	}}, map[string]string{"data": "true", "train": "fail", "eval": "true", "deploy": "true", "report": "true"})
	for name, want := range map[string]struct {
		phase  run.Phase
		reason string
	}{
		"data":   {run.Succeeded, ""},
		"train":  {run.Failed, "worker-0 exited with code 7"},
		"eval":   {run.Stopped, "needs train, which failed"},
		"deploy": {run.Stopped, "needs eval, which was skipped"},
		"report": {run.Succeeded, ""},
	} {
		if r := got[name]; r.Phase != want.phase || r.Reason != want.reason {
			t.Errorf("%s: %s %q, want %s %q", name, r.Phase, r.Reason, want.phase, want.reason)
		}
	}
	if got["data"].Ended.After(got["train"].Started) {
		t.Error("train began before data had ended")
	}
	var runs []run.Run
	for _, r := range got {
		runs = append(runs, r)
	}
	if phase, why, exit := run.Fold(runs); phase != run.Failed || exit.Code != 7 {
		t.Errorf("the group: %s %q %+v", phase, why, exit)
	}
}

func TestGroupStopsOnFailure(t *testing.T) {
	got := runGroup(t, groupPlane(t), job.Group{StopOnFailure: true, MaxParallel: 1}, map[string]string{"a": "fail", "b": "true"})
	if r := got["b"]; r.Phase != run.Stopped || r.Reason != "a failed and the group stops on failure" {
		t.Errorf("b: %s %q", r.Phase, r.Reason)
	}
}

func TestGroupIsAllOrNothing(t *testing.T) {
	p := groupPlane(t)
	bad := submission("true")
	bad.Spec.Framework.Name = "nonsense"
	_, err := p.SubmitGroup(t.Context(), run.GroupSubmission{
		Group: job.Group{Name: "g", Jobs: map[string]*job.Spec{"a": {}, "b": {}}},
		Jobs:  map[string]run.Submission{"a": submission("true"), "b": bad},
	})
	if err == nil {
		t.Fatal("accepted")
	}
	if page, _ := p.List(t.Context(), run.Query{}); len(page.Runs) != 0 {
		t.Errorf("%d runs of a refused group", len(page.Runs))
	}
	left, _ := os.ReadDir(filepath.Join(p.config.StateDir, "runs"))
	if len(left) != 0 {
		t.Errorf("%d folders of a refused group", len(left))
	}
}

// TestNobodyIsBelieved: a service is given jobs by programs too, which may not
// have checked them.
func TestNobodyIsBelieved(t *testing.T) {
	p := groupPlane(t)
	for name, change := range map[string]func(*run.Submission){
		"a name that leads out": func(s *run.Submission) { s.Spec.Name = "../../x" },
		"nothing to run":        func(s *run.Submission) { s.Spec.Roles["worker"].Command = nil },
		"a role that is null":   func(s *run.Submission) { s.Spec.Roles["worker"] = nil },
		"a hidden rank": func(s *run.Submission) {
			s.Spec.Framework.Name = "torch"
			s.RoleEnv = map[string]map[string]string{"worker": {"RANK": "1"}}
		},
		"a volume without a place": func(s *run.Submission) {
			s.Spec.Roles["worker"].Volumes = []job.Volume{{Source: "data", Path: "/data"}}
		},
	} {
		s := submission("true")
		s.Spec.Name = "a"
		change(&s)
		if _, err := p.Submit(t.Context(), s); err == nil {
			t.Errorf("%s: submitted", name)
		}
		if _, err := p.Plan(t.Context(), s); err == nil {
			t.Errorf("%s: planned", name)
		}
	}
	left, _ := os.ReadDir(filepath.Join(p.config.StateDir, "runs"))
	if len(left) != 0 {
		t.Errorf("%d folders of refused jobs", len(left))
	}
}

// TestTheQueueKeepsItsCapacity: what may run at a time is what the runs were
// submitted with, whoever looks at the queue.
func TestTheQueueKeepsItsCapacity(t *testing.T) {
	p := groupPlane(t)
	at := time.Now()
	waiting := func(id string, n int) *run.Run {
		return &run.Run{ID: id, Phase: run.Pending, Created: at.Add(time.Duration(n)), Spec: submission("true").Spec, Machine: &run.Machine{Slots: 1}}
	}
	active := []*run.Run{waiting("a", 1), waiting("b", 2)}
	if c := p.toShare(active); c.Slots != 1 {
		t.Errorf("%d slots to share, want the 1 that they were submitted with", c.Slots)
	}
	active[0].Grant, active[1].Grant = &run.Grant{}, &run.Grant{}
	if c := p.toShare(active); c.Slots != 0 {
		t.Errorf("%d slots to share, want this machine's own word when nobody waits", c.Slots)
	}
}
