// Package memory is a store that lives as long as the process: for tests, and
// as the plainest statement of what a store does.
package memory

import (
	"context"
	"maps"
	"slices"
	"sort"
	"sync"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store"
)

// A Store keeps runs in memory.
type Store struct {
	mu     sync.Mutex
	bodies map[string][]byte // as encoded: nothing is shared with callers
}

// New returns an empty store.
func New() *Store { return &Store{bodies: map[string][]byte{}} }

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, runs ...run.Run) error {
	fresh := map[string][]byte{}
	for _, r := range runs {
		if err := store.CheckNew(r); err != nil {
			return err
		}
		body, err := store.Encode(r)
		if err != nil {
			return err
		}
		if fresh[r.ID] != nil {
			return store.Taken(r.ID)
		}
		fresh[r.ID] = body
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range fresh {
		if _, ok := s.bodies[id]; ok {
			return store.Taken(id)
		}
	}
	maps.Copy(s.bodies, fresh)
	return nil
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, ref string) (run.Run, error) {
	runs, err := s.sorted(ctx)
	if err != nil {
		return run.Run{}, err
	}
	for _, r := range runs {
		if r.ID == ref || ref == "" {
			return r, nil
		}
	}
	for _, r := range runs {
		if r.Spec.Name == ref {
			return r, nil
		}
	}
	return run.Run{}, store.Missing(ref, known(runs))
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, q run.Query) (run.Page, error) {
	runs, err := s.sorted(ctx)
	if err != nil {
		return run.Page{}, err
	}
	after := store.Mark{}
	if q.After != "" {
		if after, err = store.ParseMark(q.After); err != nil {
			return run.Page{}, err
		}
	}
	var out []run.Run
	for _, r := range runs {
		switch {
		case q.Active && r.Done():
		case q.Name != "" && r.Spec.Name != q.Name:
		case q.Grouped && r.Group == nil:
		case q.Group != "" && store.GroupOf(r) != q.Group:
		case q.After != "" && !after.Newer(store.MarkOf(r)):
		default:
			out = append(out, r)
		}
	}
	return store.PageOf(out, q), nil
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, id string, change func(*run.Run) error) (run.Run, error) {
	if err := ctx.Err(); err != nil {
		return run.Run{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	body, ok := s.bodies[id]
	if !ok {
		return run.Run{}, s.missing(id)
	}
	c, err := store.Apply(body, change)
	if err != nil {
		return run.Run{}, err
	}
	if c.Changed() {
		s.bodies[id] = c.Body
	}
	return c.After, nil
}

// UpdateActive implements store.Store.
func (s *Store) UpdateActive(ctx context.Context, change func([]*run.Run) ([]*run.Run, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	runs, err := s.decoded()
	if err != nil {
		return err
	}
	var bodies [][]byte
	for _, r := range slices.Backward(runs) {
		if !r.Done() {
			bodies = append(bodies, s.bodies[r.ID])
		}
	}
	changed, err := store.ApplyAll(bodies, change)
	for _, c := range changed {
		s.bodies[c.After.ID] = c.Body
	}
	return err
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.bodies[id]; !ok {
		return s.missing(id)
	}
	delete(s.bodies, id)
	return nil
}

// sorted returns all runs, newest first.
func (s *Store) sorted(ctx context.Context) ([]run.Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.decoded()
}

// decoded does the work of sorted; the caller holds the lock.
func (s *Store) decoded() ([]run.Run, error) {
	runs := make([]run.Run, 0, len(s.bodies))
	for _, body := range s.bodies {
		r, err := store.Decode(body)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	sort.Slice(runs, func(i, j int) bool { return store.MarkOf(runs[i]).Newer(store.MarkOf(runs[j])) })
	return runs, nil
}

// missing is the problem of an id that no run has; the caller holds the lock.
func (s *Store) missing(id string) error {
	runs, err := s.decoded()
	if err != nil {
		return err
	}
	return store.Missing(id, known(runs))
}

// known returns what a mistyped ref may have meant.
func known(runs []run.Run) []string {
	var out []string
	for _, r := range runs[:min(len(runs), store.Known)] {
		out = append(out, r.ID)
		if r.Spec.Name != "" {
			out = append(out, r.Spec.Name)
		}
	}
	return out
}
