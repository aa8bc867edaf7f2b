package sqlite

import (
	"fmt"
	"path/filepath"

	sqlite3 "modernc.org/sqlite/lib"

	"muster.dev/muster/internal/problem"
)

// trouble is what SQLite's primary code means for the user.
func trouble(path string, code int, err error) error {
	switch code {
	case sqlite3.SQLITE_FULL:
		return problem.Wrap(problem.Refused, err, "no room left for the record of runs %s", path).
			WithHint("free some space, or set MUSTER_STATE_DIR to a folder on another disk")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR:
		return unusable(path, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return problem.Wrap(problem.Refused, err, "the record of runs %s is damaged", path).
			WithHint("move it away, with the -wal file beside it, or set MUSTER_STATE_DIR to another folder")
	}
	return fmt.Errorf("record of runs %s: %w", path, err)
}

// unusable is the problem of a place that cannot hold the file.
func unusable(path string, err error) error {
	return problem.Wrap(problem.Refused, err, "the record of runs cannot be kept in %s", filepath.Dir(path)).
		WithHint("set MUSTER_STATE_DIR to a folder that you can write to and that has room")
}
