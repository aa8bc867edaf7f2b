package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"syscall"

	sqlite3 "modernc.org/sqlite/lib"
)

// The log is moved into the file when it has this many bytes. The first process
// to open the file reads the whole log, at about 1 ms a MB, so it must stay
// short. But moving it waits for the disk several times: so who only looks or
// deletes does it soon, and a run only if nobody has looked for a hundred runs.
const (
	longForLookers = 1 << 20
	longForRuns    = 4 << 20
)

// settle does what is due after a commit. In log mode SQLite itself waits for
// nothing but the order of its own files: a commit outlives the process and not
// the machine. One that must outlive that too, and all before it, is waited for
// here. SQLite could do so, but then each process would wait for the folder too.
func (s *Store) settle(ctx context.Context, c *sql.Conn, durable bool) error {
	if !s.log || s.trim(ctx, c, longForRuns) || !durable {
		return nil // SQLite has waited, or nobody needs to
	}
	err := flush(s.path + "-wal")
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC):
		return trouble(s.path, sqlite3.SQLITE_FULL, err)
	}
	return unusable(s.path, err)
}

// tidy is what a call that nobody's run waits for does for the others.
func (s *Store) tidy(ctx context.Context) {
	if c, err := s.db.Conn(ctx); err == nil {
		s.trim(ctx, c, longForLookers)
		_ = c.Close()
	}
}

// trim moves a long log into the file and says whether all of it got there, and
// is on the disk. SQLite's own way empties the log only at the next write of the
// same process; commands that write once would never get there. What goes wrong
// is left to a later commit: nothing is lost as long as the log is there.
func (s *Store) trim(ctx context.Context, c *sql.Conn, long int64) bool {
	if st, err := os.Stat(s.path + "-wal"); !s.log || err != nil || st.Size() < long {
		return false
	}
	ctx = context.WithoutCancel(ctx) // or the timeout might stay 0
	// A reader is in the way for milliseconds: not worth waiting.
	if _, err := c.ExecContext(ctx, "PRAGMA busy_timeout=0"); err != nil {
		return false
	}
	var busy, logged, moved int
	err := c.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved)
	if err == nil && busy == 0 {
		// The first commit to an empty log waits for the disk. Let that be ours,
		// with something that is written even when it is the same as before.
		_, _ = c.ExecContext(ctx, "PRAGMA application_id="+applicationID)
	}
	_, later := c.ExecContext(ctx, "PRAGMA busy_timeout="+lockWait)
	return errors.Join(err, later) == nil && (busy == 0 || logged > 0 && moved == logged)
}

// flush waits until a file is on the disk. Tests count it.
var flush = func(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
