package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store/storetest"
)

// wantRefused checks that err names the next step and every one of words.
func wantRefused(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil || problem.KindOf(err) != problem.Refused {
		t.Fatalf("got %v, want it refused", err)
	}
	for _, w := range words {
		if all := err.Error() + "\n" + problem.HintOf(err); !strings.Contains(all, w) {
			t.Errorf("%q is not in:\n%s", w, all)
		}
	}
}

func execute(t *testing.T, s *Store, query string) {
	t.Helper()
	if _, err := s.db.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	s := fresh(t)
	execute(t, s, "UPDATE written_by SET muster = '9.8.7'; PRAGMA user_version = 12")
	_, err := Open(s.path, Options{})
	wantRefused(t, err, s.path, "muster, 9.8.7", "schema 12", "up to 2", "use muster 9.8.7", "MUSTER_STATE_DIR")
	execute(t, s, "DROP TABLE written_by")
	_, err = Open(s.path, Options{})
	wantRefused(t, err, "unknown version", "schema 12")
}

func TestPlacesThatCannotHoldTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("not a database, but long enough to look at\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(filepath.Join(file, "runs.db"), Options{})
	wantRefused(t, err, "cannot be kept in "+file, "MUSTER_STATE_DIR")
	_, err = Open(file, Options{})
	wantRefused(t, err, file, "damaged", "MUSTER_STATE_DIR")
	_, err = Open(dir, Options{})
	wantRefused(t, err, "MUSTER_STATE_DIR")
}

func TestReadOnlyPlace(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("no folder is read-only for root")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := Open(filepath.Join(dir, "runs.db"), Options{})
	wantRefused(t, err, dir, "MUSTER_STATE_DIR")
}

func TestPlaceThatBecomesReadOnly(t *testing.T) {
	s := fresh(t)
	execute(t, s, "PRAGMA query_only = 1") // the code of a disk mounted again as read-only
	err := s.Create(t.Context(), storetest.Sample(1, "a"))
	wantRefused(t, err, filepath.Dir(s.path), "MUSTER_STATE_DIR")
}

func TestFullDisk(t *testing.T) {
	s := fresh(t)
	if err := s.Create(t.Context(), storetest.Sample(0, "a")); err != nil {
		t.Fatal(err)
	}
	execute(t, s, "PRAGMA max_page_count = 1") // SQLite raises it to the present size
	var err error
	for n := 1; err == nil && n < 100; n++ {
		err = s.Create(t.Context(), storetest.Sample(n, "a"))
	}
	wantRefused(t, err, "no room left", s.path, "MUSTER_STATE_DIR")
	execute(t, s, "PRAGMA max_page_count = 100000")
	if err := s.Create(t.Context(), storetest.Sample(100, "a")); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// lock makes another process's transaction of a second connection.
func lock(t *testing.T, s *Store) (unlock func()) {
	t.Helper()
	other := open(t, s.path)
	tx, err := other.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func() { _ = tx.Rollback() }
}

func TestLockedForTooLong(t *testing.T) {
	s := fresh(t)
	execute(t, s, "PRAGMA busy_timeout = 0")
	s.patience = 10 * time.Millisecond
	defer lock(t, s)()
	wantRefused(t, s.Create(t.Context(), storetest.Sample(1, "a")), s.path, "locked by another process")
	_, err := s.Get(t.Context(), "")
	if problem.KindOf(err) != problem.NotFound {
		t.Errorf("a writer keeps readers out: %v", err)
	}
}

func TestContextEndsTheWaitForALock(t *testing.T) {
	s := fresh(t)
	defer lock(t, s)()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := s.Create(ctx, storetest.Sample(1, "a"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestWaitsForALock(t *testing.T) {
	s := fresh(t)
	execute(t, s, "PRAGMA busy_timeout = 0") // so that only our own waiting helps
	unlock := lock(t, s)
	met, done := make(chan struct{}), make(chan error)
	tries := 0
	go func() {
		done <- s.retry(t.Context(), func() error {
			if tries++; tries == 3 {
				close(met)
			}
			return s.transact(t.Context(), never, func(*sql.Tx) error { return nil })
		})
	}()
	<-met
	unlock()
	if err := <-done; err != nil {
		t.Errorf("after %d tries: %v", tries, err)
	}
}

func TestUpdateSurvivesAPanicOfItsCaller(t *testing.T) {
	s := fresh(t)
	if err := s.Create(t.Context(), storetest.Sample(1, "a")); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = s.Update(t.Context(), "a-00001", func(*run.Run) error { panic("mine") })
	}()
	if _, err := s.Update(t.Context(), "a-00001", func(r *run.Run) error { r.Reason = "x"; return nil }); err != nil {
		t.Error(err)
	}
}
