package snapshot

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The yardstick: Take of 10,000 small files should cost at most about three
// times what tar needs for them.
func BenchmarkTar(b *testing.B) {
	dir := many(b, 10_000)
	for b.Loop() {
		if err := exec.Command("tar", "-cf", filepath.Join(b.TempDir(), "x.tar"), "-C", dir, ".").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTarExtract(b *testing.B) {
	dir, tar := many(b, 10_000), filepath.Join(b.TempDir(), "x.tar")
	if err := exec.Command("tar", "-cf", tar, "-C", dir, ".").Run(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := exec.Command("tar", "-xf", tar, "-C", b.TempDir()).Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTakeNew(b *testing.B) {
	dir := many(b, 10_000)
	for b.Loop() {
		s := &Store{Dir: b.TempDir()}
		if _, err := s.Take(context.Background(), dir, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// settle waits until the stamps of a folder's files are trusted.
func settle(t testing.TB, dir string) {
	t.Helper()
	for {
		now, ready := time.Now(), true
		tree, err := walk(context.Background(), dir, Options{}.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range tree.stamps {
			ready = ready && s.settledAt(now)
		}
		if ready {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func BenchmarkTakeAgain(b *testing.B) {
	dir, s := many(b, 10_000), &Store{Dir: b.TempDir()}
	settle(b, dir)
	if _, err := s.Take(context.Background(), dir, Options{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Take(context.Background(), dir, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	dir, s := many(b, 10_000), &Store{Dir: b.TempDir()}
	snap, err := s.Take(context.Background(), dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Extract(context.Background(), snap.ID, filepath.Join(b.TempDir(), "copy")); err != nil {
			b.Fatal(err)
		}
	}
}
