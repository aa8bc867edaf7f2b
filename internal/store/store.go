// Package store is the durable record of runs: what it promises, and the rules
// that every implementation keeps. The rules are pure; the implementations are
// in the folders below, and storetest is the suite they pass.
package store

import (
	"context"

	"muster.dev/muster/internal/run"
)

// A Store keeps runs. Its methods may be called from any goroutine, and many
// processes may share one store. Errors that a caller can act on are problems;
// Refused means that the place of the store is locked, full or not writable.
type Store interface {
	// Create adds runs, all or none. When it returns, they outlive a power
	// loss. An id that is taken is a Conflict.
	Create(ctx context.Context, runs ...run.Run) error

	// Get returns the run called ref: its id, or a job's name for the newest
	// run of that job, or "" for the newest of all. NotFound says what else
	// could have been meant.
	Get(ctx context.Context, ref string) (run.Run, error)

	// List returns one page of runs, newest first. A run created or deleted
	// between two pages neither repeats nor hides another.
	List(ctx context.Context, q run.Query) (run.Page, error)

	// Update changes a run in one transaction and returns it as stored, with
	// Rev one higher if anything changed. An error of change, which is
	// returned as it is, or of Check leaves all as it was. change may be
	// called more than once, must not use the store and should be quick, as
	// other writers wait for it. When a terminal phase has been stored, it
	// outlives a power loss; other updates outlive any death of the process.
	Update(ctx context.Context, id string, change func(*run.Run) error) (run.Run, error)

	// UpdateActive changes any of the runs that have not ended, in one
	// transaction: what is shared among runs is given out here. change gets
	// them oldest first and returns those that it changed; the others stay as
	// they were. The rules of Update hold; it may not end a run.
	UpdateActive(ctx context.Context, change func([]*run.Run) (changed []*run.Run, err error)) error

	// Delete removes a run, ended or not. One that is not there is NotFound.
	Delete(ctx context.Context, id string) error
}
