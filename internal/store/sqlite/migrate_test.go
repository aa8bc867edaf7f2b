package sqlite

import (
	"path/filepath"
	"testing"

	"muster.dev/muster/internal/store/storetest"
)

// TestOlderFiles: a record of schema 1, with and without the column that some
// development versions gave it, is taken to the present one with what it holds.
func TestOlderFiles(t *testing.T) {
	for name, old := range map[string]string{
		"without groups": "DROP INDEX runs_group; ALTER TABLE runs DROP COLUMN grp; PRAGMA user_version = 1",
		"with them":      "PRAGMA user_version = 1",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "muster.db")
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Create(t.Context(), storetest.Sample(1, "a")); err != nil {
				t.Fatal(err)
			}
			execute(t, s, old)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = Open(path, Options{}); err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Create(t.Context(), storetest.Sample(2, "b")); err != nil {
				t.Fatal(err)
			}
			if r, err := s.Get(t.Context(), "a"); err != nil || r.ID != "a-00001" {
				t.Errorf("%s, %v", r.ID, err)
			}
		})
	}
}
