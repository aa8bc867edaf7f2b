package storetest

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store"
)

func readsBack(t *testing.T, s store.Store) {
	want := Sample(1, "digits")
	create(t, s, want)
	got := get(t, s, want.ID)
	wantSame(t, got, want)
	if !got.Created.Equal(want.Created) || !reflect.DeepEqual(got.Tasks, want.Tasks) || !reflect.DeepEqual(got.Spec, want.Spec) {
		t.Errorf("the stored form loses something: %+v", got)
	}
}

func takenOnce(t *testing.T, s store.Store) {
	first, second := Sample(1, "digits"), Sample(1, "digits")
	second.Reason = "another"
	create(t, s, first)
	wantKind(t, s.Create(t.Context(), second), problem.Conflict)
	wantSame(t, get(t, s, first.ID), first)
}

// takenTogether: runs that are created together are all there or none is.
func takenTogether(t *testing.T, s store.Store) {
	create(t, s, Sample(1, "a"))
	wantKind(t, s.Create(t.Context(), Sample(2, "b"), Sample(1, "a")), problem.Conflict)
	if _, err := s.Get(t.Context(), "b-00002"); err == nil {
		t.Error("half of the runs were created")
	}
	if err := s.Create(t.Context(), Sample(2, "b"), Sample(3, "c")); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, all(t, s, run.Query{}), "c-00003", "b-00002", "a-00001")
}

func incomplete(t *testing.T, s store.Store) {
	nameless, timeless := Sample(1, "a"), Sample(2, "a")
	nameless.ID, timeless.Created = "", time.Time{}
	wantKind(t, s.Create(t.Context(), nameless), problem.Invalid)
	wantKind(t, s.Create(t.Context(), timeless), problem.Invalid)
	_, err := s.Get(t.Context(), "")
	wantKind(t, err, problem.NotFound)
}

func refs(t *testing.T, s store.Store) {
	create(t, s, Sample(2, "digits"), Sample(1, "digits"), Sample(3, "bert"))
	sneaky := Sample(0, "x") // its id is another job's name
	sneaky.ID = "bert"
	create(t, s, sneaky)
	for ref, want := range map[string]string{
		"digits-00001": "digits-00001",
		"digits":       "digits-00002",
		"":             "bert-00003",
		"bert":         "bert",
	} {
		if got := get(t, s, ref).ID; got != want {
			t.Errorf("%q is %s, want %s", ref, got, want)
		}
	}
}

func unknown(t *testing.T, s store.Store) {
	_, err := s.Get(t.Context(), "")
	wantKind(t, err, problem.NotFound)
	if problem.HintOf(err) == "" {
		t.Error("an empty store gives no next step")
	}
	create(t, s, Sample(1, "digits"))
	for ref, want := range map[string]string{"digts": "digits", "digits-00010": "digits-00001", "zzz": "muster ps"} {
		_, err := s.Get(t.Context(), ref)
		wantKind(t, err, problem.NotFound)
		if hint := problem.HintOf(err); !strings.Contains(hint, want) {
			t.Errorf("%s: hint %q does not say %s", ref, hint, want)
		}
	}
	_, err = s.Update(t.Context(), "digits", func(*run.Run) error { return errors.New("called") })
	wantKind(t, err, problem.NotFound) // a name is not an id
	wantKind(t, s.Delete(t.Context(), "digits"), problem.NotFound)
}

func updates(t *testing.T, s store.Store) {
	want := Sample(1, "digits")
	create(t, s, want)
	started := time.Now() // with a monotonic reading, which cannot be stored
	got, err := s.Update(t.Context(), want.ID, func(r *run.Run) error {
		r.Phase, r.Started, r.Fence = run.Running, started, 5
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want.Phase, want.Started, want.Fence, want.Rev = run.Running, started, 5, 2
	wantSame(t, got, want)
	wantSame(t, get(t, s, want.ID), want)
}

func unchanged(t *testing.T, s store.Store) {
	want := Sample(1, "digits")
	create(t, s, want)
	got, err := s.Update(t.Context(), want.ID, func(r *run.Run) error { r.Rev = 70; return nil })
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, got, want)
	wantSame(t, get(t, s, want.ID), want)
}

func failed(t *testing.T, s store.Store) {
	want := Sample(1, "digits")
	create(t, s, want)
	sentinel := errors.New("not now")
	_, err := s.Update(t.Context(), want.ID, func(r *run.Run) error {
		r.Phase, r.Spec.Labels["n"] = run.Failed, "changed"
		return sentinel
	})
	if err != sentinel {
		t.Errorf("got %v, want the caller's own error", err)
	}
	wantSame(t, get(t, s, want.ID), want)
}

func guarded(t *testing.T, s store.Store) {
	r := Sample(1, "digits")
	create(t, s, r)
	refused := func(k problem.Kind, change func(*run.Run)) {
		t.Helper()
		before := get(t, s, r.ID)
		_, err := s.Update(t.Context(), r.ID, func(r *run.Run) error { change(r); return nil })
		wantKind(t, err, k)
		wantSame(t, get(t, s, r.ID), before)
	}
	refused(problem.Stale, func(r *run.Run) { r.Fence = 0 })
	refused(problem.Invalid, func(r *run.Run) { r.ID = "other" })
	if _, err := s.Update(t.Context(), r.ID, func(r *run.Run) error { r.Phase = run.Succeeded; return nil }); err != nil {
		t.Fatal(err)
	}
	refused(problem.Conflict, func(r *run.Run) { r.Phase = run.Failed })
	refused(problem.Conflict, func(r *run.Run) { r.Intent.Want = run.WantStop })
	refused(problem.Stale, func(r *run.Run) { r.Fence = 0 })
}

func deletes(t *testing.T, s store.Store) {
	a, b := Sample(1, "digits"), Sample(2, "digits")
	create(t, s, a, b)
	if err := s.Delete(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	_, err := s.Get(t.Context(), b.ID)
	wantKind(t, err, problem.NotFound)
	wantSame(t, get(t, s, "digits"), a)
	create(t, s, b) // its id is free again
}

func separate(t *testing.T, s store.Store) {
	mine := Sample(1, "digits")
	create(t, s, mine)
	mine.Spec.Labels["n"] = "mine"
	var kept *run.Run
	got, err := s.Update(t.Context(), mine.ID, func(r *run.Run) error { kept, r.Reason = r, "x"; return nil })
	if err != nil {
		t.Fatal(err)
	}
	kept.Spec.Labels["n"] = "kept"
	again := get(t, s, mine.ID)
	if got.Spec.Labels["n"] != "1" || again.Spec.Labels["n"] != "1" {
		t.Errorf("labels are shared: %v, %v", got.Spec.Labels, again.Spec.Labels)
	}
}

func canceled(t *testing.T, s store.Store) {
	r := Sample(1, "digits")
	create(t, s, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, getErr := s.Get(ctx, r.ID)
	_, listErr := s.List(ctx, run.Query{})
	_, updateErr := s.Update(ctx, r.ID, func(r *run.Run) error { r.Reason = "x"; return nil })
	for what, err := range map[string]error{
		"create": s.Create(ctx, Sample(2, "digits")), "get": getErr, "list": listErr,
		"update": updateErr, "delete": s.Delete(ctx, r.ID),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantSame(t, get(t, s, ""), r)
}
