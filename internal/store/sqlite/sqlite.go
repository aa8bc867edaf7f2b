// Package sqlite is the store that many processes of one user share: a SQLite
// file in the state directory. No other package imports the SQLite driver.
package sqlite

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver
)

const (
	// lockWait is how long SQLite itself waits for another process's
	// transaction; between such waits the caller's context is looked at.
	lockWait = "1000" // milliseconds

	// patience is how long a call without a deadline waits for a lock. A
	// transaction takes milliseconds: its holder must be suspended or stuck.
	patience = 30 * time.Second
)

// Options are what Open needs to know.
type Options struct {
	Version string // of this muster, for the reader of a file that is too new for it
}

// A Store keeps runs in a SQLite file.
type Store struct {
	db       *sql.DB
	path     string
	patience time.Duration
	log      bool // SQLite keeps a log beside the file, and does not wait for the disk

	abandoned atomic.Bool
}

// Open opens the store in the file at path and creates it, readable by the
// user only, if it is not there. A file of a newer muster is Refused. It waits
// for other processes that are creating the same file.
func Open(path string, o Options) (*Store, error) {
	if err := ensureFile(path); err != nil {
		return nil, unusable(path, err)
	}
	return openOn(KindOf(path), path, o)
}

// openOn opens the file, which is there, on a file system of the given kind.
func openOn(kind Kind, path string, o Options) (*Store, error) {
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return nil, unusable(path, err)
	}
	// One connection, which has our settings; and goroutines queue here and not
	// at the file lock. SQLite's own settings, should it be lost, only cost time.
	db.SetMaxOpenConns(1)
	s := &Store{db: db, path: path, patience: patience}
	if err := s.prepare(context.Background(), kind, o.Version); err != nil {
		_ = db.Close()
		return nil, err
	}
	return s, nil
}

// Close releases everything. If no other process has the file open, SQLite
// then moves its log into the file, which takes several fsyncs: a process that
// is about to end should Abandon the store. After Abandon it does nothing.
func (s *Store) Close() error {
	if s.abandoned.Load() {
		return nil
	}
	return s.db.Close()
}

// Abandon gives the store up without any work: what was acknowledged is already
// kept, and the end of the process closes the files. Later calls are errors.
func (s *Store) Abandon() { s.abandoned.Store(true) }

// dsn names the file to the driver. The path is escaped, as it may hold the
// characters that separate it from the settings.
func dsn(path string) string {
	u := url.URL{Path: path}
	return "file:" + u.EscapedPath() + "?_txlock=immediate&_error_rc=1&_busy_timeout=" + lockWait +
		"&_pragma=wal_autocheckpoint(0)" // see settle
}

// creating makes sure that nobody in this process uses the file before the
// descriptor that created it is closed: closing any descriptor of a file gives
// up all locks that the process has on it.
var creating sync.Mutex

// ensureFile creates the file with a mode that SQLite would not give it. The
// log files beside it get the same mode from SQLite.
func ensureFile(path string) error {
	creating.Lock()
	defer creating.Unlock()
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if os.IsExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}
