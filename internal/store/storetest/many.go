package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store"
)

// all reads every page of q.
func all(t *testing.T, s store.Store, q run.Query) []string {
	t.Helper()
	out := []string{}
	for {
		p, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if q.Limit > 0 && len(p.Runs) > q.Limit {
			t.Fatalf("a page of %d has %d runs", q.Limit, len(p.Runs))
		}
		out = append(out, ids(p.Runs)...)
		if p.Next == "" {
			return out
		}
		q.After = p.Next
	}
}

func wantIDs(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func pages(t *testing.T, s store.Store) {
	wantIDs(t, all(t, s, run.Query{Limit: 2}))
	create(t, s, Sample(2, "a"), Sample(4, "a"), Sample(1, "a"), Sample(3, "a"))
	for _, limit := range []int{0, 1, 2, 3, 4, 5} {
		wantIDs(t, all(t, s, run.Query{Limit: limit}), "a-00004", "a-00003", "a-00002", "a-00001")
	}
	p, err := s.List(t.Context(), run.Query{Limit: 4})
	if err != nil || p.Next != "" {
		t.Errorf("a full last page says there is more: %q, %v", p.Next, err)
	}
	wantSame(t, p.Runs[0], Sample(4, "a"))
	_, err = s.List(t.Context(), run.Query{After: "page 2"})
	wantKind(t, err, problem.Invalid)
}

func sameInstant(t *testing.T, s store.Store) {
	for _, id := range []string{"b", "a", "c"} {
		r := Sample(1, "x")
		r.ID = id
		create(t, s, r)
	}
	wantIDs(t, all(t, s, run.Query{Limit: 1}), "c", "b", "a")
	if got := get(t, s, "x").ID; got != "c" {
		t.Errorf("the newest is %s, and c is listed first", got)
	}
}

func filters(t *testing.T, s store.Store) {
	create(t, s, Sample(1, "a"), Sample(2, "b"), Sample(3, "a"), Sample(4, "b"), Sample(5, "a"))
	for _, id := range []string{"a-00003", "b-00004"} {
		if _, err := s.Update(t.Context(), id, func(r *run.Run) error { r.Phase = run.Failed; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	wantIDs(t, all(t, s, run.Query{Active: true, Limit: 1}), "a-00005", "b-00002", "a-00001")
	wantIDs(t, all(t, s, run.Query{Name: "a", Limit: 2}), "a-00005", "a-00003", "a-00001")
	wantIDs(t, all(t, s, run.Query{Name: "a", Active: true}), "a-00005", "a-00001")
	wantIDs(t, all(t, s, run.Query{Name: "c"}))
	if _, err := s.Update(t.Context(), "a-00005", func(r *run.Run) error { r.Spec.Name = "c"; return nil }); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, all(t, s, run.Query{Name: "c"}), "a-00005") // found under its new name
}

func pagesAndDeletion(t *testing.T, s store.Store) {
	create(t, s, Sample(1, "a"), Sample(2, "a"), Sample(3, "a"))
	p, err := s.List(t.Context(), run.Query{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "a-00002"); err != nil { // the mark itself
		t.Fatal(err)
	}
	create(t, s, Sample(4, "a"))
	wantIDs(t, all(t, s, run.Query{Limit: 2, After: p.Next}), "a-00001")
}

func concurrent(t *testing.T, s store.Store) {
	const workers, each = 4, 25
	create(t, s, Sample(1, "a"))
	var wg sync.WaitGroup
	errs := make(chan error, workers*each)
	for range workers {
		wg.Go(func() {
			for range each {
				_, err := s.Update(t.Context(), "a-00001", func(r *run.Run) error { r.Restarts++; return nil })
				errs <- err
			}
		})
	}
	wg.Wait()
	for range workers * each {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if r := get(t, s, "a-00001"); r.Restarts != workers*each || r.Rev != 1+workers*each {
		t.Errorf("%d updates gave restarts %d and rev %d", workers*each, r.Restarts, r.Rev)
	}
}

func racingCreate(t *testing.T, s store.Store) {
	const n = 8
	errs := make(chan error, n)
	for i := range n {
		go func() {
			r := Sample(1, "a")
			r.Reason = fmt.Sprint(i)
			errs <- s.Create(t.Context(), r)
		}()
	}
	won := 0
	for range n {
		switch err := <-errs; {
		case err == nil:
			won++
		default:
			wantKind(t, err, problem.Conflict)
		}
	}
	if won != 1 {
		t.Errorf("%d creators won", won)
	}
}

// groups: runs can be asked for by their group, and for having one.
func groups(t *testing.T, s store.Store) {
	alone, one, other := Sample(1, "a"), Sample(2, "b"), Sample(3, "c")
	one.Group, other.Group = &run.Group{ID: "night-1111"}, &run.Group{ID: "night-2222"}
	create(t, s, alone, one, other)
	for _, c := range []struct {
		q    run.Query
		want []string
	}{
		{run.Query{}, []string{"c-00003", "b-00002", "a-00001"}},
		{run.Query{Grouped: true}, []string{"c-00003", "b-00002"}},
		{run.Query{Grouped: true, Active: true, Limit: 1}, []string{"c-00003"}},
		{run.Query{Group: "night-1111"}, []string{"b-00002"}},
		{run.Query{Group: "night"}, nil},
	} {
		page, err := s.List(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range page.Runs {
			ids = append(ids, r.ID)
		}
		wantIDs(t, ids, c.want...)
	}
}
