package sqlite

import (
	"context"
	"database/sql"

	"muster.dev/muster/internal/problem"
)

// schemaVersion is kept in the file's user_version. It grows with the tables
// and also with the JSON of a run where an older muster would lose something
// by reading and writing it.
const schemaVersion = 2

// applicationID says to programs that look at SQLite files whose this one is.
const applicationID = "0x4d757374" // Must

// schema: the columns beside body repeat what is searched for. written_by never
// changes its form, as every older muster reads it.
const schema = `
CREATE TABLE runs (
	id      TEXT PRIMARY KEY,
	name    TEXT NOT NULL,
	grp     TEXT NOT NULL,
	created INTEGER NOT NULL,
	done    INTEGER NOT NULL,
	rev     INTEGER NOT NULL,
	fence   INTEGER NOT NULL,
	body    BLOB NOT NULL
);
CREATE INDEX runs_created ON runs (created, id);
CREATE INDEX runs_name    ON runs (name, created, id);
CREATE INDEX runs_group   ON runs (grp, created, id) WHERE grp <> '';
CREATE INDEX runs_active  ON runs (created, id) WHERE done = 0;
CREATE TABLE written_by (muster TEXT NOT NULL);
PRAGMA user_version = 2;
`

// addGroups takes a file of schema 1 to schema 2.
const addGroups = `
ALTER TABLE runs ADD COLUMN grp TEXT NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS runs_group ON runs (grp, created, id) WHERE grp <> '';
PRAGMA user_version = 2;
`

// prepare makes the open file usable. A file that is current costs few queries.
func (s *Store) prepare(ctx context.Context, kind Kind, muster string) error {
	return s.retry(ctx, func() error {
		if err := s.bringUp(ctx, kind, muster); err != nil {
			return err
		}
		var mode string
		if err := s.db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil || mode != "wal" {
			return err
		}
		s.log = true
		_, err := s.db.ExecContext(ctx, "PRAGMA synchronous=NORMAL") // see settle
		return err
	})
}

func (s *Store) bringUp(ctx context.Context, kind Kind, muster string) error {
	if kind == Network {
		// Processes on two machines do not share the memory that the
		// log needs, and the file may come from a local disk.
		if err := s.setJournal(ctx, "DELETE"); err != nil {
			return err
		}
	}
	v, err := s.version(ctx)
	switch {
	case err != nil:
		return err
	case v > schemaVersion:
		return s.tooNew(ctx, v)
	case v == schemaVersion:
		return nil
	case v == 1:
		return s.migrate(ctx)
	}
	return s.create(ctx, kind, muster)
}

func (s *Store) version(ctx context.Context) (v int, err error) {
	err = s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

func (s *Store) setJournal(ctx context.Context, mode string) error {
	var got string // what SQLite chose instead is slower, not wrong
	return s.db.QueryRowContext(ctx, "PRAGMA journal_mode="+mode).Scan(&got)
}

func (s *Store) create(ctx context.Context, kind Kind, muster string) error {
	// A change of a run takes few small pages where it takes as many large ones,
	// and the log, which every command reads, stays a third as long.
	if _, err := s.db.ExecContext(ctx, "PRAGMA page_size=1024"); err != nil {
		return err
	}
	if kind == Local {
		if err := s.setJournal(ctx, "WAL"); err != nil {
			return err
		}
	}
	return s.transact(ctx, always, func(tx *sql.Tx) error {
		var v int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v); err != nil || v > 0 {
			return err // another process was faster
		}
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO written_by (muster) VALUES (?)", muster)
		return err
	})
}

// migrate takes a file of schema 1 to the present one. Some development versions
// had the column already.
func (s *Store) migrate(ctx context.Context) error {
	return s.transact(ctx, always, func(tx *sql.Tx) error {
		var v, has int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v); err != nil || v != 1 {
			return err // another process was faster
		}
		err := tx.QueryRowContext(ctx, "SELECT count(*) FROM pragma_table_info('runs') WHERE name = 'grp'").Scan(&has)
		if err != nil {
			return err
		}
		change := addGroups
		if has > 0 {
			change = "PRAGMA user_version = 2"
		}
		_, err = tx.ExecContext(ctx, change)
		return err
	})
}

func (s *Store) tooNew(ctx context.Context, v int) error {
	var muster string
	err := s.db.QueryRowContext(ctx, "SELECT muster FROM written_by LIMIT 1").Scan(&muster)
	if busy(err) {
		return err
	}
	if muster == "" {
		muster = "(unknown version)"
	}
	return problem.New(problem.Refused,
		"the record of runs %s was written by a newer muster, %s: it has schema %d, and this one knows up to %d",
		s.path, muster, v, schemaVersion).
		WithHint("use muster %s or newer, or set MUSTER_STATE_DIR to another folder", muster)
}
