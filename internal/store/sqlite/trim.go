package sqlite

import (
	"context"
	"database/sql"
	"os"
)

// The log is moved into the file when it has this many bytes, by the first
// commit that nobody waits for; a commit that somebody waits for does so only
// if there have been no others for long. The first process to open the file
// reads the whole log, at about 3 µs a page, so it must stay short.
const (
	trimAt     = 200 * 4096
	trimAtLast = 1000 * 4096
)

// trim shortens a long log. SQLite's own way empties the log only at the next
// write of the same process; commands that write once would never get there,
// and each would pay for the log of all before it. What goes wrong here is left
// to the next commit: nothing is lost as long as the log is there.
func (s *Store) trim(ctx context.Context, c *sql.Conn, sync string) {
	limit := int64(trimAt)
	if sync == full {
		limit = trimAtLast
	}
	st, err := os.Stat(s.path + "-wal")
	if err != nil || st.Size() < limit {
		return
	}
	ctx = context.WithoutCancel(ctx) // or the timeout might stay 0
	for _, q := range []string{
		"PRAGMA busy_timeout=0", // a reader is in the way for milliseconds: not worth waiting
		"PRAGMA wal_checkpoint(TRUNCATE)",
		"PRAGMA busy_timeout=" + lockWait,
	} {
		_, _ = c.ExecContext(ctx, q)
	}
}
