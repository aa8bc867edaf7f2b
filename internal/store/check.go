package store

import (
	"bytes"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// CheckNew says whether r can be created.
func CheckNew(r run.Run) error {
	if r.ID == "" {
		return problem.New(problem.Invalid, "a run needs an id")
	}
	if r.Created.IsZero() {
		return problem.New(problem.Invalid, "run %s: created must be set, as runs are listed by it", r.ID)
	}
	return nil
}

// Check says whether a record may change from before to after: its identity is
// fixed, the fence only grows, and after a terminal phase nothing changes. Rev
// belongs to the store and is not looked at.
func Check(before, after run.Run) error {
	if after.ID != before.ID || !after.Created.Equal(before.Created) {
		return problem.New(problem.Invalid, "run %s: id and created cannot change", before.ID)
	}
	if after.Fence < before.Fence {
		return problem.New(problem.Stale, "run %s has a newer owner: fence %d is below %d",
			before.ID, after.Fence, before.Fence)
	}
	if !before.Done() {
		return nil
	}
	same, err := equal(before, after)
	if err != nil || same {
		return err
	}
	return problem.New(problem.Conflict, "run %s has ended (%s) and its record no longer changes",
		before.ID, before.Phase).WithHint("start the job again: muster rerun %s", before.ID)
}

// equal compares what would be stored, so that nil and empty are the same.
func equal(a, b run.Run) (bool, error) {
	b.Rev = a.Rev
	x, err := Encode(a)
	if err != nil {
		return false, err
	}
	y, err := Encode(b)
	return bytes.Equal(x, y), err
}
