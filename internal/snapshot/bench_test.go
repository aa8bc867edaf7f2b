package snapshot

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
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

func BenchmarkTakeNew(b *testing.B) {
	dir := many(b, 10_000)
	for b.Loop() {
		s := &Store{Dir: b.TempDir()}
		if _, err := s.Take(context.Background(), dir, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTakeAgain(b *testing.B) {
	dir, s := many(b, 10_000), &Store{Dir: b.TempDir()}
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
