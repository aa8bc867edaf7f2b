// Package storetest is the conformance suite of run stores: what store.Store
// says, tried on a real one.
package storetest

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store"
)

// Run runs the suite. New returns an empty store that the test may keep to its end.
func Run(t *testing.T, New func(t *testing.T) store.Store) {
	for _, c := range []struct {
		name string
		try  func(*testing.T, store.Store)
	}{
		{"a created run reads back whole", readsBack},
		{"an id is taken once", takenOnce},
		{"runs are created together or not at all", takenTogether},
		{"a run without id or time is refused", incomplete},
		{"a ref is an id, a name or nothing", refs},
		{"an unknown ref says what was meant", unknown},
		{"an update is stored and counted", updates},
		{"an update that changes nothing is not stored", unchanged},
		{"an update that fails leaves all as it was", failed},
		{"the rules of Check hold", guarded},
		{"a deleted run is gone", deletes},
		{"what a caller holds is not what is stored", separate},
		{"pages are newest first and complete", pages},
		{"runs of one instant have one order", sameInstant},
		{"filters select", filters},
		{"pages survive a deletion", pagesAndDeletion},
		{"concurrent updates lose nothing", concurrent},
		{"one of many creators wins", racingCreate},
		{"active runs change together", activeTogether},
		{"active runs change together or not at all", activeFails},
		{"active runs that nobody changed stay as they are", activeNamed},
		{"runs are found by their group", groups},
		{"one thing is given to one run", activeRace},
		{"an ended context ends the call", canceled},
	} {
		t.Run(c.name, func(t *testing.T) { c.try(t, New(t)) })
	}
}

// epoch has digits below the microsecond and a zone, which a store must keep.
var epoch = time.Date(2026, 3, 1, 3, 25, 2, 162_345_678, time.FixedZone("", 3600))

// Sample returns a run as large and as varied as a real one. Later n are newer.
func Sample(n int, name string) run.Run {
	r := run.Run{
		ID: fmt.Sprintf("%s-%05d", name, n), Phase: run.Pending, Engine: "local",
		Spec:    job.Spec{Name: name, Framework: job.Framework{Name: "mxnet"}, Labels: map[string]string{"n": fmt.Sprint(n)}},
		Created: epoch.Add(time.Duration(n) * time.Second),
		Origin:  run.Origin{Node: "h7", Dir: "/home/a/digits", File: "muster.yaml", RunDir: "/home/a/.local/share/muster/runs/x"},
		Fence:   1,
		Rev:     1,
	}
	r.Spec.Roles = map[string]*job.Role{
		"worker": {Replicas: 4, Run: "python train.py --kv-store dist_sync", Env: map[string]string{"OMP_NUM_THREADS": "1"}},
		"server": {Replicas: 2, Run: "python train.py --kv-store dist_sync"},
	}
	for i := range 4 {
		r.Tasks = append(r.Tasks, engine.Instance{Instance: job.Instance{Task: job.Task{Role: "worker", Index: i}, Attempt: 1}})
	}
	return r
}

func create(t *testing.T, s store.Store, runs ...run.Run) {
	t.Helper()
	for _, r := range runs {
		if err := s.Create(t.Context(), r); err != nil {
			t.Fatalf("create %s: %v", r.ID, err)
		}
	}
}

func get(t *testing.T, s store.Store, ref string) run.Run {
	t.Helper()
	r, err := s.Get(t.Context(), ref)
	if err != nil {
		t.Fatalf("get %q: %v", ref, err)
	}
	return r
}

func wantKind(t *testing.T, err error, k problem.Kind) {
	t.Helper()
	if err == nil || problem.KindOf(err) != k {
		t.Errorf("got error %v, want one of kind %s", err, k)
	}
}

// wantSame compares runs as they are stored.
func wantSame(t *testing.T, got, want run.Run) {
	t.Helper()
	body, err := store.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if want, err = store.Decode(body); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func ids(runs []run.Run) []string {
	out := []string{}
	for _, r := range runs {
		out = append(out, r.ID)
	}
	return out
}
