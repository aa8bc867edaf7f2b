package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store"
	"muster.dev/muster/internal/store/memory"
	"muster.dev/muster/internal/store/storetest"
)

// pair is the store under test and the plain one that it must equal.
type pair struct {
	real  *Store
	model *memory.Store
	path  string
}

var errNo = errors.New("no")

// TestLikeMemory tries random operations on both stores, with reopening in between.
func TestLikeMemory(t *testing.T) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		p := &pair{model: memory.New(), path: filepath.Join(t.TempDir(), fmt.Sprintf("%d.db", n))}
		p.real = open(t, p.path)
		defer func() { _ = p.real.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"create": p.create,
			"get":    p.get,
			"list":   p.list,
			"update": p.update,
			"delete": p.delete,
			"reopen": func(*rapid.T) { _ = p.real.Close(); p.real = open(t, p.path) },
		})
	})
}

func drawRef() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a-00001", "a-00002", "a-00003", "b-00001", "b-00002", "a", "b", "", "c"})
}

// check compares the answers: values, kinds and hints.
func check(t *rapid.T, got, want any, gotErr, wantErr error) {
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || problem.KindOf(gotErr) != problem.KindOf(wantErr) {
		t.Fatalf("sqlite says %v, memory says %v", gotErr, wantErr)
	}
	if a, b := problem.HintOf(gotErr), problem.HintOf(wantErr); a != b {
		t.Fatalf("sqlite hints %q, memory hints %q", a, b)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("sqlite has\n%+v\nmemory has\n%+v", got, want)
	}
}

func (p *pair) create(t *rapid.T) {
	r := storetest.Sample(rapid.IntRange(1, 3).Draw(t, "n"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"))
	r.Phase = rapid.SampledFrom([]run.Phase{run.Pending, run.Running, run.Failed}).Draw(t, "phase")
	check(t, nil, nil, p.real.Create(t.Context(), r), p.model.Create(t.Context(), r))
}

func (p *pair) get(t *rapid.T) {
	ref := drawRef().Draw(t, "ref")
	a, errA := p.real.Get(t.Context(), ref)
	b, errB := p.model.Get(t.Context(), ref)
	check(t, a, b, errA, errB)
}

func (p *pair) list(t *rapid.T) {
	q := run.Query{
		Active: rapid.Bool().Draw(t, "active"),
		Name:   rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "name"),
		Limit:  rapid.IntRange(0, 3).Draw(t, "limit"),
	}
	if rapid.Bool().Draw(t, "after") {
		q.After = store.MarkOf(storetest.Sample(rapid.IntRange(0, 4).Draw(t, "mark"), "a")).String()
	}
	a, errA := p.real.List(t.Context(), q)
	b, errB := p.model.List(t.Context(), q)
	check(t, a, b, errA, errB)
}

func (p *pair) update(t *rapid.T) {
	id := drawRef().Draw(t, "id")
	phase := rapid.SampledFrom([]run.Phase{run.Pending, run.Running, run.Ending, run.Succeeded, run.Failed}).Draw(t, "phase")
	fence := rapid.Int64Range(-1, 1).Draw(t, "fence")
	name := rapid.SampledFrom([]string{"", "", "", "a", "b"}).Draw(t, "name")
	refuse := rapid.IntRange(0, 5).Draw(t, "refuse") == 0
	change := func(r *run.Run) error {
		r.Phase, r.Fence = phase, r.Fence+fence
		if name != "" {
			r.Spec.Name = name
		}
		if refuse {
			return errNo
		}
		return nil
	}
	a, errA := p.real.Update(t.Context(), id, change)
	b, errB := p.model.Update(t.Context(), id, change)
	check(t, a, b, errA, errB)
}

func (p *pair) delete(t *rapid.T) {
	id := drawRef().Draw(t, "id")
	check(t, nil, nil, p.real.Delete(t.Context(), id), p.model.Delete(t.Context(), id))
}
