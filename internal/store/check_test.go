package store_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store"
)

func sample() run.Run {
	return run.Run{
		ID: "digits-k3f9", Phase: run.Running, Fence: 3, Rev: 7,
		Spec:    job.Spec{Name: "digits", Labels: map[string]string{"team": "a"}},
		Created: time.Date(2026, 3, 1, 3, 25, 2, 160, time.UTC),
	}
}

func ended() run.Run {
	r := sample()
	r.Phase = run.Failed
	return r
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		before run.Run
		change func(*run.Run)
		want   problem.Kind // "" for allowed
	}{
		{"a phase may change", sample(), func(r *run.Run) { r.Phase = run.Ending }, ""},
		{"the fence may rise", sample(), func(r *run.Run) { r.Fence = 4 }, ""},
		{"the fence never falls", sample(), func(r *run.Run) { r.Fence = 2 }, problem.Stale},
		{"the id is fixed", sample(), func(r *run.Run) { r.ID = "x" }, problem.Invalid},
		{"the creation is fixed", sample(), func(r *run.Run) { r.Created = r.Created.Add(1) }, problem.Invalid},
		{"the same instant elsewhere is no change", sample(), func(r *run.Run) { r.Created = r.Created.In(time.FixedZone("x", 3600)) }, ""},
		{"after the end only rev may change", ended(), func(r *run.Run) { r.Rev++ }, ""},
		{"after the end nil and empty are the same", ended(), func(r *run.Run) { r.Failures = []run.Failure{} }, ""},
		{"a terminal phase stays", ended(), func(r *run.Run) { r.Phase = run.Succeeded }, problem.Conflict},
		{"a run does not come back", ended(), func(r *run.Run) { r.Phase = run.Running }, problem.Conflict},
		{"after the end no intent is taken", ended(), func(r *run.Run) { r.Intent.Want = run.WantStop }, problem.Conflict},
		{"after the end the fence is fixed", ended(), func(r *run.Run) { r.Fence++ }, problem.Conflict},
		{"a late owner is stale, ended or not", ended(), func(r *run.Run) { r.Fence--; r.Phase = run.Running }, problem.Stale},
	} {
		t.Run(c.name, func(t *testing.T) {
			after := c.before
			c.change(&after)
			err := store.Check(c.before, after)
			if c.want == "" && err != nil {
				t.Fatalf("refused: %v", err)
			}
			if c.want != "" && (err == nil || problem.KindOf(err) != c.want) {
				t.Fatalf("got %v, want kind %s", err, c.want)
			}
		})
	}
}

func TestCheckNew(t *testing.T) {
	if err := store.CheckNew(sample()); err != nil {
		t.Errorf("a good run was refused: %v", err)
	}
	if err := store.CheckNew(run.Run{Created: time.Now()}); problem.KindOf(err) != problem.Invalid {
		t.Errorf("no id: %v", err)
	}
	if err := store.CheckNew(run.Run{ID: "a"}); problem.KindOf(err) != problem.Invalid {
		t.Errorf("no time: %v", err)
	}
}

func TestApply(t *testing.T) {
	body, err := store.Encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	c, err := store.Apply(body, func(r *run.Run) error {
		r.Spec.Labels["team"] = "b" // through a map that a shallow copy would share
		r.Rev = 99
		return nil
	})
	if err != nil || !c.Changed() || c.After.Rev != 8 || c.Before.Spec.Labels["team"] != "a" {
		t.Errorf("a change in a map: %+v, %v", c, err)
	}
	c, err = store.Apply(body, func(r *run.Run) error { r.Rev = 99; return nil })
	if err != nil || c.Changed() || c.After.Rev != 7 {
		t.Errorf("rev alone is no change: %+v, %v", c, err)
	}
	c, err = store.Apply(body, func(r *run.Run) error { r.Phase = run.Stopped; return nil })
	if err != nil || !c.Ends() {
		t.Errorf("an end: %+v, %v", c, err)
	}
	sentinel := errors.New("no")
	if _, err = store.Apply(body, func(*run.Run) error { return sentinel }); err != sentinel {
		t.Errorf("the caller's error became %v", err)
	}
	_, err = store.Apply(body, func(r *run.Run) error {
		r.Spec.Roles = map[string]*job.Role{"worker": {Resources: job.Resources{CPUs: math.NaN()}}}
		return nil
	})
	if problem.KindOf(err) != problem.Invalid {
		t.Errorf("a value that JSON cannot hold: %v", err)
	}
	// An older muster may have written the same run in another form.
	loose := append([]byte(" "), body...)
	if c, err = store.Apply(loose, func(*run.Run) error { return nil }); err != nil || c.Changed() {
		t.Errorf("another spelling counted as a change: %v", err)
	}
}

func TestMark(t *testing.T) {
	m := store.MarkOf(sample())
	back, err := store.ParseMark(m.String())
	if err != nil || back != m {
		t.Errorf("%v came back as %v, %v", m, back, err)
	}
	for _, bad := range []string{"x", "1", "1.", ".a", "a.b"} {
		if _, err := store.ParseMark(bad); problem.KindOf(err) != problem.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if a, b := (store.Mark{Created: 1, ID: "a"}), (store.Mark{Created: 1, ID: "b"}); a.Newer(b) || !b.Newer(a) || a.Newer(a) {
		t.Error("runs of the same instant have no order")
	}
}

func TestMissing(t *testing.T) {
	for _, c := range []struct{ name, ref, text, hint string }{
		{"nothing at all", "", "there are no runs yet", "start one: muster run -n 2 -- python train.py"},
		{"a slip", "digts", `no run or job is called "digts"`, "did you mean digits? muster ps -a lists all runs"},
		{"a stranger", "resnet", `no run or job is called "resnet"`, "muster ps -a lists all runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := store.Missing(c.ref, []string{"digits", "digits-k3f9"})
			if err.Error() != c.text || problem.HintOf(err) != c.hint || problem.KindOf(err) != problem.NotFound {
				t.Errorf("%v / %s", err, problem.HintOf(err))
			}
		})
	}
}
