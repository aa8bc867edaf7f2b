package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	const slack = 64 << 10 // of the commit that trims
	for _, c := range []struct {
		name string
		look bool
		long int64
	}{{"somebody looks", true, longForLookers}, {"nobody looks", false, longForRuns}} {
		path := filepath.Join(t.TempDir(), "runs.db")
		if err := open(t, path).Create(t.Context(), storetest.Sample(1, "a")); err != nil {
			t.Fatal(err)
		}
		longest, shrank := int64(0), 0
		for n, before := 0, int64(0); n < 1500; n++ {
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Update(t.Context(), "a-00001", func(r *run.Run) error { r.Reason = strings.Repeat(fmt.Sprint(n), 1000); return nil })
			if err == nil && c.look && n%5 == 0 {
				_, err = s.List(t.Context(), run.Query{Limit: 10})
			}
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
		if longest > c.long+slack || shrank == 0 {
			t.Errorf("%s: the log grew to %d bytes and shrank %d times", c.name, longest, shrank)
		}
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
	for ; logSize(t, s.path) < 2*longForLookers; n++ {
		update(n)
	}
	s.tidy(t.Context())
	if logSize(t, s.path) < longForLookers {
		t.Error("trimmed what a reader needs")
	}
	_ = rows.Close()
	s.tidy(t.Context())
	if size := logSize(t, s.path); size > 2*4200 {
		t.Errorf("without the reader the log still has %d bytes", size)
	}
	if v := s.pragma(t, "busy_timeout"); v != lockWait {
		t.Errorf("the wait for locks is now %s ms", v)
	}
}
