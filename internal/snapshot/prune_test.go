package snapshot

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// age makes a snapshot old enough to be pruned.
func age(t *testing.T, s *Store, snaps ...Snapshot) {
	t.Helper()
	old := time.Now().Add(-2 * settled)
	for _, snap := range snaps {
		if err := os.Chtimes(s.manifest(snap.ID), old, old); err != nil {
			t.Fatal(err)
		}
	}
}

func prune(t *testing.T, s *Store, keep ...Snapshot) {
	t.Helper()
	err := s.Prune(func(id string) bool {
		for _, k := range keep {
			if k.ID == id {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPrune(t *testing.T) {
	s, dir := newStore(t), t.TempDir()
	write(t, dir, "shared", "shared")
	write(t, dir, "f", "first")
	first := take(t, s, dir)
	write(t, dir, "f", "second")
	second := take(t, s, dir)
	write(t, dir, "f", "third")
	young := take(t, s, dir)
	age(t, s, first, second)
	prune(t, s, second)
	if s.Has(first.ID) || !s.Has(second.ID) || !s.Has(young.ID) {
		t.Error("the wrong ones were removed")
	}
	if n := len(objects(t, s)); n != 3 {
		t.Errorf("%d objects are left, want 3", n)
	}
	extract(t, s, second.ID)
	extract(t, s, young.ID)
}

func TestTakeMakesAnOldSnapshotYoung(t *testing.T) {
	s, dir := newStore(t), sample(t)
	age(t, s, take(t, s, dir))
	snap := take(t, s, dir)
	prune(t, s)
	extract(t, s, snap.ID)
}

func TestPruneLeavesAStoreInUseAlone(t *testing.T) {
	s := newStore(t)
	snap := take(t, s, sample(t))
	age(t, s, snap)
	lock, err := openLock(s.lockFile(), syscall.LOCK_SH)
	if err != nil {
		t.Fatal(err)
	}
	prune(t, s)
	if !s.Has(snap.ID) {
		t.Error("it was removed under its user")
	}
	lock.Close()
	prune(t, s)
	if s.Has(snap.ID) || len(objects(t, s)) > 0 {
		t.Error("it was not removed later")
	}
}

func TestPruneWithoutAStore(t *testing.T) {
	s := newStore(t)
	prune(t, s)
	if _, err := os.Stat(filepath.Dir(s.Dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Dir); err == nil {
		t.Error("it made a store")
	}
}
