package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"muster.dev/muster/internal/problem"
)

// retry calls do until it meets no lock of another process, and explains its
// error. It gives up when ctx ends, or after the store's patience.
func (s *Store) retry(ctx context.Context, do func() error) error {
	if s.abandoned.Load() {
		return fmt.Errorf("record of runs %s: %w", s.path, os.ErrClosed)
	}
	began := time.Now()
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := do()
		if !busy(err) {
			return s.explain(ctx, err)
		}
		if time.Since(began) >= s.patience {
			return s.locked(err)
		}
		// Two processes that met once should not meet again.
		pause := time.NewTimer(wait/2 + rand.N(wait))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return s.explain(ctx, ctx.Err())
		}
	}
}

// busy says that another process held a lock, so that trying again may help.
func busy(err error) bool {
	code := primary(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// primary returns SQLite's code for err without its details, 0 if it has none.
func primary(err error) int {
	var e *driver.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// explain turns an error of SQLite into one for the user. Others pass as they
// are: they come from the caller's own function or are problems already.
func (s *Store) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	code := primary(err)
	if (code == sqlite3.SQLITE_INTERRUPT || errors.Is(err, ctx.Err())) && ctx.Err() != nil {
		return fmt.Errorf("record of runs %s: %w", s.path, ctx.Err())
	}
	if code == 0 {
		return err
	}
	return trouble(s.path, code, err)
}

func (s *Store) locked(err error) error {
	return problem.Wrap(problem.Refused, err, "the record of runs %s is locked by another process for more than %s",
		s.path, s.patience).
		WithHint("look for a suspended or hanging muster: ps -C muster")
}
