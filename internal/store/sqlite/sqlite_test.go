package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store"
	"muster.dev/muster/internal/store/storetest"
)

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path, Options{Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func fresh(t testing.TB) *Store { return open(t, filepath.Join(t.TempDir(), "runs.db")) }

func (s *Store) pragma(t testing.TB, name string) (v string) {
	t.Helper()
	if err := s.db.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return fresh(t) })
}

// remote opens the file as if its folder were on a network file system.
func remote(t *testing.T, path string) *Store {
	t.Helper()
	if err := ensureFile(path); err != nil {
		t.Fatal(err)
	}
	s, err := openOn(Network, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// On a network file system the store keeps its promises without a log.
func TestStoreOnNetwork(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return remote(t, filepath.Join(t.TempDir(), "runs.db"))
	})
}

func TestNetworkHasNoLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	if mode := remote(t, path).pragma(t, "journal_mode"); mode != "delete" {
		t.Errorf("a new file has journal mode %s", mode)
	}
	moved := fresh(t) // made on a local disk, then moved
	if err := moved.Create(t.Context(), storetest.Sample(1, "a")); err != nil {
		t.Fatal(err)
	}
	if err := moved.Close(); err != nil {
		t.Fatal(err)
	}
	s := remote(t, moved.path)
	if mode := s.pragma(t, "journal_mode"); mode != "delete" {
		t.Errorf("a moved file has journal mode %s", mode)
	}
	if _, err := s.Get(t.Context(), "a"); err != nil {
		t.Errorf("its run is gone: %v", err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "a?b #c%20d") // characters that end a path in a URI
	path := filepath.Join(dir, "runs.db")
	s := open(t, path)
	if err := s.Create(t.Context(), storetest.Sample(1, "a")); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{path, path + "-wal", path + "-shm"} {
		st, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", filepath.Base(f), st.Mode())
		}
	}
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", st, err)
	}
}

func TestReopenKeepsAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path)
	for i := range 20 {
		if err := s.Create(t.Context(), storetest.Sample(i, "a")); err != nil {
			t.Fatal(err)
		}
	}
	if mode := s.pragma(t, "journal_mode"); mode != "wal" {
		t.Errorf("journal mode is %s", mode)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := open(t, path).List(t.Context(), run.Query{})
	if err != nil || len(p.Runs) != 20 {
		t.Errorf("%d runs after reopening, %v", len(p.Runs), err)
	}
}

func TestAbandon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path)
	if err := s.Create(t.Context(), storetest.Sample(1, "a")); err != nil {
		t.Fatal(err)
	}
	db := s.db
	t.Cleanup(func() { _ = db.Close() })
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s.Abandon()
	if err := s.Close(); err != nil {
		t.Errorf("close after abandon: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the log was moved into the file: %v", err)
	}
	if _, err := s.Get(t.Context(), ""); err == nil {
		t.Error("an abandoned store still answers")
	}
	if _, err := open(t, path).Get(t.Context(), "a"); err != nil {
		t.Errorf("an acknowledged run is gone: %v", err)
	}
}

// Many openers of a file that is not there yet agree on one.
func TestOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	const n = 8
	stores, errs := make([]*Store, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if stores[i], errs[i] = Open(path, Options{}); errs[i] == nil {
				errs[i] = stores[i].Create(t.Context(), storetest.Sample(i, "a"))
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = stores[i].Close() })
	}
	p, err := stores[0].List(t.Context(), run.Query{})
	if err != nil || len(p.Runs) != n {
		t.Errorf("%d runs of %d openers, %v", len(p.Runs), n, err)
	}
	var rows int
	if err := stores[0].db.QueryRowContext(t.Context(), "SELECT count(*) FROM written_by").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("the schema was written %d times, %v", rows, err)
	}
}

// The queries of a user with many runs must not read them all.
func TestQueriesUseIndexes(t *testing.T) {
	s := fresh(t)
	for _, q := range []run.Query{
		{Limit: 10}, {Limit: 10, After: "1.a"}, {Active: true, Limit: 10}, {Active: true, After: "1.a"},
		{Name: "a", Limit: 10}, {Name: "a", After: "1.a"},
	} {
		query, args, err := selection(q)
		if err != nil {
			t.Fatal(err)
		}
		err = s.each(t.Context(), "EXPLAIN QUERY PLAN "+query, args, func(rows *sql.Rows) error {
			var id, parent, unused int
			var detail string
			err := rows.Scan(&id, &parent, &unused, &detail)
			if detail == "SCAN runs" || detail == "USE TEMP B-TREE FOR ORDER BY" {
				t.Errorf("%+v: %s", q, detail)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
