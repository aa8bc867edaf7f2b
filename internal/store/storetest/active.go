package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store"
)

func activeTogether(t *testing.T, s store.Store) {
	ended := Sample(3, "c")
	create(t, s, Sample(2, "b"), Sample(1, "a"), ended)
	if _, err := s.Update(t.Context(), ended.ID, func(r *run.Run) error { r.Phase = run.Succeeded; return nil }); err != nil {
		t.Fatal(err)
	}
	var seen []string
	err := s.UpdateActive(t.Context(), func(active []*run.Run) ([]*run.Run, error) {
		seen = nil
		for _, r := range active {
			seen = append(seen, r.ID)
			r.Grant = &run.Grant{Slots: 1}
		}
		return active, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, seen, "a-00001", "b-00002")
	for _, id := range seen {
		if r := get(t, s, id); r.Grant == nil || r.Grant.Slots != 1 || r.Rev != 2 {
			t.Errorf("%s: grant %+v, rev %d", id, r.Grant, r.Rev)
		}
	}
}

// activeNamed: only what change says it has changed is stored.
func activeNamed(t *testing.T, s store.Store) {
	create(t, s, Sample(1, "a"), Sample(2, "b"))
	err := s.UpdateActive(t.Context(), func(active []*run.Run) ([]*run.Run, error) {
		active[0].Reason, active[1].Reason = "tried", "changed"
		return active[1:], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := get(t, s, "a-00001"), get(t, s, "b-00002"); a.Reason != "" || b.Reason != "changed" {
		t.Errorf("reasons %q and %q", a.Reason, b.Reason)
	}
}

func activeFails(t *testing.T, s store.Store) {
	create(t, s, Sample(1, "a"), Sample(2, "b"))
	stop := errors.New("stop")
	err := s.UpdateActive(t.Context(), func(active []*run.Run) ([]*run.Run, error) {
		active[0].Reason = "changed"
		return active, stop
	})
	if !errors.Is(err, stop) {
		t.Errorf("error %v, want the change's own", err)
	}
	err = s.UpdateActive(t.Context(), func(active []*run.Run) ([]*run.Run, error) {
		active[0].Reason = "changed"
		active[1].Fence = 0
		return active, nil
	})
	wantKind(t, err, problem.Stale)
	if r := get(t, s, "a-00001"); r.Reason != "" || r.Rev != 1 {
		t.Errorf("a half of a failed change was stored: %q, rev %d", r.Reason, r.Rev)
	}
}

// activeRace: one thing, wanted by many at once, is given to one.
func activeRace(t *testing.T, s store.Store) {
	const n = 8
	for i := range n {
		create(t, s, Sample(i+1, "r"))
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			err := s.UpdateActive(context.Background(), func(active []*run.Run) ([]*run.Run, error) {
				for _, r := range active {
					if r.Grant != nil {
						return nil, nil
					}
				}
				active[0].Grant = &run.Grant{Slots: 1}
				return active[:1], nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	given := 0
	page, err := s.List(t.Context(), run.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range page.Runs {
		if r.Grant != nil {
			given++
		}
	}
	if given != 1 {
		t.Errorf("given to %d runs, want 1", given)
	}
}
