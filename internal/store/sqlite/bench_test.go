package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store"
	"muster.dev/muster/internal/store/storetest"
)

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "runs.db")
	open(b, path)
	for b.Loop() {
		s, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		_ = s.Close()
		b.StartTimer()
	}
}

func BenchmarkCreateUpdate(b *testing.B) {
	s, n := fresh(b), 0
	for b.Loop() {
		r := storetest.Sample(n, "a")
		n++
		if err := s.Create(b.Context(), r); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Update(b.Context(), r.ID, func(r *run.Run) error { r.Phase = run.Running; return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// filled returns a store of n runs, written in one transaction.
func filled(b *testing.B, n int) *Store {
	b.Helper()
	s := fresh(b)
	err := s.transact(b.Context(), never, func(tx *sql.Tx) error {
		for i := range n {
			r := storetest.Sample(i, "a")
			body, err := store.Encode(r)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(b.Context(), "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
				r.ID, r.Spec.Name, "", r.Created.UnixNano(), i%100 != 0, r.Rev, r.Fence, body); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkList10000(b *testing.B) {
	s := filled(b, 10_000)
	middle := store.MarkOf(storetest.Sample(5000, "a")).String()
	for name, q := range map[string]run.Query{
		"first":  {Limit: 50},
		"middle": {Limit: 50, After: middle},
		"active": {Limit: 50, Active: true},
		"name":   {Limit: 50, Name: "a", After: middle},
		"all":    {},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.List(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
