//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"muster.dev/muster/internal/snapshot"
)

// perFolder is how many files of a tree share a folder.
const perFolder = 100

// settling is how old files must be for a snapshot to trust their times.
const settling = 4 * time.Second

func measureSnapshot(b *bench) error {
	n := 10_000
	if b.quick {
		n = 2_000
	}
	tree := b.path("tree")
	if err := plant(tree, n); err != nil {
		return err
	}
	planted := time.Now()
	if err := await("files that are old enough", func() bool { return time.Since(planted) > settling }); err != nil {
		return err
	}
	kept := &snapshot.Store{Dir: b.path("kept")}
	snap, err := take(kept, tree, n)
	if err != nil {
		return err
	}
	if _, err := finish(exec.Command("tar", "cf", b.path("kept.tar"), "-C", tree, ".")); err != nil {
		return err
	}
	results, err := race(b.rounds(15), append(storing(b, kept, tree, n), extracting(b, kept, snap.ID)...))
	if err != nil {
		return err
	}
	r := b.report
	floor := r.addResult(tarStores, "ms", results[tarStores], 0, nil)
	r.addResult(takesNew, "ms", results[takesNew], 0, floor, ratioAtMost(3))
	r.addResult(takesAgain, "ms", results[takesAgain], 0, floor, ratioAtMost(2))
	floor = r.addResult(tarExtracts, "ms", results[tarExtracts], 0, nil)
	r.addResult(extracts, "ms", results[extracts], 0, floor)
	return nil
}

const (
	tarStores   = "tar cf"
	takesNew    = "snapshot, nothing stored yet"
	takesAgain  = "snapshot, unchanged, again"
	tarExtracts = "tar xf"
	extracts    = "a run's copy of a snapshot"
)

// storing are the ways to store a tree of n files.
func storing(b *bench, kept *snapshot.Store, tree string, n int) []contender {
	return []contender{
		{name: tarStores, once: func() ([]float64, error) {
			defer os.Remove(b.path("tree.tar"))
			return toItsEnd(func() *exec.Cmd { return exec.Command("tar", "cf", b.path("tree.tar"), "-C", tree, ".") })()
		}},
		{name: takesNew, once: func() ([]float64, error) {
			s := &snapshot.Store{Dir: b.path("new")}
			defer os.RemoveAll(s.Dir)
			return timed(func() error { _, err := take(s, tree, n); return err })
		}},
		{name: takesAgain, once: func() ([]float64, error) {
			return timed(func() error { _, err := take(kept, tree, n); return err })
		}},
	}
}

// extracting are the ways to get it back, into a folder that is not there. The
// folders stay until all is measured, so that what the file system has to do
// for removed files does not fall on who comes next.
func extracting(b *bench, kept *snapshot.Store, id string) []contender {
	copies := 0
	next := func() string {
		copies++
		return b.path(fmt.Sprintf("copied-%d", copies))
	}
	return []contender{
		{name: tarExtracts, every: 3, once: func() ([]float64, error) {
			to := next()
			if err := os.Mkdir(to, 0o755); err != nil {
				return nil, err
			}
			return toItsEnd(func() *exec.Cmd { return exec.Command("tar", "xf", b.path("kept.tar"), "-C", to) })()
		}},
		{name: extracts, every: 3, once: func() ([]float64, error) {
			to := next()
			return timed(func() error { return kept.Extract(context.Background(), id, to) })
		}},
	}
}

func take(s *snapshot.Store, tree string, n int) (snapshot.Snapshot, error) {
	got, err := s.Take(context.Background(), tree, snapshot.Options{})
	if err == nil && got.Files != n {
		err = fmt.Errorf("a snapshot of %d files: %w", got.Files, errWrong)
	}
	return got, err
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
