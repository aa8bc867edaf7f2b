package store

import (
	"encoding/json"
	"fmt"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// Encode returns the stored form of a run.
func Encode(r run.Run) ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, problem.Wrap(problem.Invalid, err, "run %s cannot be stored", r.ID)
	}
	return body, nil
}

// Decode reads the stored form of a run.
func Decode(body []byte) (run.Run, error) {
	var r run.Run
	if err := json.Unmarshal(body, &r); err != nil {
		return run.Run{}, fmt.Errorf("read stored run: %w", err)
	}
	return r, nil
}

// A Change is what an update does to a record.
type Change struct {
	Before, After run.Run
	Body          []byte // After as it is to be stored; nil if nothing changed
}

// Changed says that there is something to store.
func (c Change) Changed() bool { return c.Body != nil }

// Ends says that the change makes the phase terminal.
func (c Change) Ends() bool { return c.After.Done() && !c.Before.Done() }

// Apply works out what change does to the run stored as body. It stores nothing.
func Apply(body []byte, change func(*run.Run) error) (Change, error) {
	before, err := Decode(body)
	if err != nil {
		return Change{}, err
	}
	// A second copy: change may write through the pointers of the first.
	after, err := Decode(body)
	if err != nil {
		return Change{}, err
	}
	if err := change(&after); err != nil {
		return Change{}, err
	}
	if err := Check(before, after); err != nil {
		return Change{}, err
	}
	same, err := equal(before, after)
	if err != nil || same {
		return Change{Before: before, After: before}, err
	}
	after.Rev = before.Rev + 1
	return stored(before, after)
}

// stored gives After as it will be read back, free of what change still holds.
func stored(before, after run.Run) (Change, error) {
	body, err := Encode(after)
	if err != nil {
		return Change{}, err
	}
	after, err = Decode(body)
	return Change{Before: before, After: after, Body: body}, err
}

// ApplyAll works out what change does to the runs stored as bodies, and returns
// only what it changed. It does not look for that by itself: thousands may wait.
func ApplyAll(bodies [][]byte, change func([]*run.Run) ([]*run.Run, error)) ([]Change, error) {
	runs := make([]*run.Run, len(bodies))
	bodyOf := make(map[*run.Run][]byte, len(bodies))
	for i, body := range bodies {
		r, err := Decode(body)
		if err != nil {
			return nil, err
		}
		runs[i], bodyOf[&r] = &r, body
	}
	named, err := change(runs)
	if err != nil {
		return nil, err
	}
	var changed []Change
	for _, after := range named {
		c, err := Apply(bodyOf[after], func(r *run.Run) error { *r = *after; return nil })
		if err != nil {
			return nil, err
		}
		if c.Ends() {
			return nil, problem.New(problem.Internal, "%s may not end together with others", c.After.ID)
		}
		if c.Changed() {
			changed = append(changed, c)
		}
	}
	return changed, nil
}
