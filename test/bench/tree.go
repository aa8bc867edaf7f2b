//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"muster.dev/muster/internal/snapshot"
)

// perFolder is how many files of a tree share a folder.
const perFolder = 100

func measureSnapshot(b *bench) error {
	n := 10_000
	if b.quick {
		n = 2_000
	}
	tree := b.path("tree")
	if err := plant(tree, n); err != nil {
		return err
	}
	bare := fmt.Sprintf("tar cf, %d files of 1 KB", n)
	const first, again = "snapshot, nothing stored yet", "snapshot, unchanged, again"
	kept := &snapshot.Store{Dir: b.path("kept")}
	take := func(s *snapshot.Store) error {
		got, err := s.Take(context.Background(), tree, snapshot.Options{})
		if err == nil && got.Files != n {
			err = fmt.Errorf("a snapshot of %d files: %w", got.Files, errWrong)
		}
		return err
	}
	results, err := race(b.rounds(15), []contender{
		{name: bare, once: func() ([]float64, error) {
			defer os.Remove(b.path("tree.tar"))
			return toItsEnd(func() *exec.Cmd { return exec.Command("tar", "cf", b.path("tree.tar"), "-C", tree, ".") })()
		}},
		{name: first, once: func() ([]float64, error) {
			s := &snapshot.Store{Dir: b.path("new")}
			defer os.RemoveAll(s.Dir)
			return timed(func() error { return take(s) })
		}},
		{name: again, once: func() ([]float64, error) { // the first time does not count
			return timed(func() error { return take(kept) })
		}},
	})
	if err != nil {
		return err
	}
	r := b.report
	floor := r.addResult(bare, "ms", results[bare], 0, nil)
	r.addResult(first, "ms", results[first], 0, floor, ratioAtMost(3))
	r.addResult(again, "ms", results[again], 0, floor, ratioAtMost(3))
	return nil
}

// plant makes a tree of n files of a kilobyte, no two of them the same.
func plant(dir string, n int) error {
	for i := range n {
		folder := filepath.Join(dir, fmt.Sprintf("d%03d", i/perFolder))
		if i%perFolder == 0 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
		}
		text := fmt.Appendf(nil, "%01023d\n", i)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("f%05d.py", i)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
