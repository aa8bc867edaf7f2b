package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store/storetest"
)

func logSize(t *testing.T, path string) int64 {
	t.Helper()
	st, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

// Each command is a process of its own that may write only once. The log must
// stay short all the same, as the next command reads it.
func TestLogStaysShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	if err := open(t, path).Create(t.Context(), storetest.Sample(1, "a")); err != nil {
		t.Fatal(err)
	}
	const slack = 16 * 4096 // of the commit that trims
	longest, shrank := int64(0), 0
	for n, before := 0, int64(0); n < 500; n++ {
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Update(t.Context(), "a-00001", func(r *run.Run) error { r.Reason = fmt.Sprint(n); return nil })
		if err != nil {
			t.Fatal(err)
		}
		size := logSize(t, path)
		if size < before {
			shrank++
		}
		longest, before = max(longest, size), size
		_ = s.Close()
	}
	if longest > trimAt+slack || shrank == 0 {
		t.Errorf("the log grew to %d bytes and shrank %d times", longest, shrank)
	}
}

// A submit does not pay for the log of others, unless nobody else ever does.
func TestCreateTrimsLate(t *testing.T) {
	s := fresh(t)
	longest, shrank := int64(0), false
	for n := 0; n < 1000 && !shrank; n++ {
		if err := s.Create(t.Context(), storetest.Sample(n, "a")); err != nil {
			t.Fatal(err)
		}
		size := logSize(t, s.path)
		shrank = size < longest
		longest = max(longest, size)
	}
	if !shrank || longest < 2*trimAt {
		t.Errorf("the log grew to %d bytes, trimmed: %v", longest, shrank)
	}
}

// A reader that keeps the log from being trimmed does not stop writers.
func TestTrimWithAReader(t *testing.T) {
	s := fresh(t)
	if err := s.Create(t.Context(), storetest.Sample(1, "a")); err != nil {
		t.Fatal(err)
	}
	other := open(t, s.path)
	rows, err := other.db.QueryContext(t.Context(), "SELECT id FROM runs UNION ALL SELECT id FROM runs")
	if err != nil || !rows.Next() {
		t.Fatal("the reader did not start", err)
	}
	update := func(n int) {
		t.Helper()
		if _, err := s.Update(t.Context(), "a-00001", func(r *run.Run) error { r.Restarts = n; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	n := 1
	for ; logSize(t, s.path) < 2*trimAt; n++ {
		update(n)
	}
	_ = rows.Close()
	update(n)
	if size := logSize(t, s.path); size > 0 {
		t.Errorf("without the reader the log still has %d bytes", size)
	}
	if v := s.pragma(t, "busy_timeout"); v != lockWait {
		t.Errorf("the wait for locks is now %s ms", v)
	}
}
