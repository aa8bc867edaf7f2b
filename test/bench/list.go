//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store"
	"muster.dev/muster/internal/store/sqlite"
)

const stored = 10_000

// pageSize is what a dashboard asks for at once.
const pageSize = 50

func measureList(b *bench) error {
	if err := b.seed("few", "many"); err != nil {
		return err
	}
	var contenders []contender
	command := func(name, state string, args ...string) string {
		contenders = append(contenders, contender{name: name, once: toItsEnd(func() *exec.Cmd { return b.command(state, args...) })})
		return name
	}
	floor := command("muster version", "many", "version")
	few := command("muster ps, 1 run stored", "few", "ps")
	ps := command("muster ps, 10,000 runs stored", "many", "ps")
	asJSON := command("muster ps -o json, 10,000 runs stored", "many", "ps", "-o", "json")
	all := command("muster ps --all -o name, 10,000 runs stored", "many", "ps", "--all", "-o", "name")
	contenders[len(contenders)-1].every = 5
	first, middle := "one page of 50 of 10,000, opening the store", "a page of 50 from the middle of 10,000"
	onFew := "one page, 1 run stored, opening the store"
	contenders = append(contenders,
		contender{name: onFew, once: b.page("few", "")},
		contender{name: first, once: b.page("many", "")},
		contender{name: middle, once: b.page("many", store.MarkOf(sample(stored/2)).String())})
	results, err := race(b.rounds(25), contenders)
	if err != nil {
		return err
	}
	r := b.report
	r.addResult(floor, "ms", results[floor], 0, nil)
	base := r.addResult(few, "ms", results[few], 0, nil)
	for _, name := range []string{ps, asJSON} {
		r.addResult(name, "ms", results[name], 0, base, atMost(50, "ms"))
	}
	r.addResult(all, "ms", results[all], 0, base)
	base = r.addResult(onFew, "ms", results[onFew], 0, nil)
	for _, name := range []string{first, middle} {
		r.addResult(name, "ms", results[name], 0, base, atMost(50, "ms"))
	}
	return nil
}

// sample names the nth stored run and says when it was created.
func sample(n int) run.Run {
	return run.Run{ID: fmt.Sprintf("true-%05d", n), Created: time.Date(2025, 1, 1, 0, 0, n, 0, time.UTC)}
}

// seed makes two records: of one run that was really done, and of 10,000 that
// are like it.
func (b *bench) seed(few, many string) error {
	if _, err := finish(b.command(few, "run", "-n", "4", "-s", "2", "--", "/bin/true")); err != nil {
		return err
	}
	src, err := sqlite.Open(filepath.Join(b.path(few), "muster.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	like, err := src.Get(context.Background(), "")
	if err = errors.Join(err, src.Close()); err != nil {
		return err
	}
	// Each run is written to the disk by itself, so this is done in memory.
	quick, err := os.MkdirTemp(memoryDir(b.dir), "muster-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(quick)
	if err := fill(filepath.Join(quick, "muster.db"), like); err != nil {
		return err
	}
	return os.CopyFS(b.path(many), os.DirFS(quick))
}

func memoryDir(otherwise string) string {
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		return "/dev/shm"
	}
	return otherwise
}

func fill(path string, like run.Run) error {
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return err
	}
	for n := range stored {
		r := sample(n)
		like.ID, like.Created = r.ID, r.Created
		if err := s.Create(context.Background(), like); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return s.Close()
}

// page reads one page of runs the way a server would.
func (b *bench) page(state, after string) func() ([]float64, error) {
	path := filepath.Join(b.path(state), "muster.db")
	return func() ([]float64, error) {
		var s *sqlite.Store
		times, err := timed(func() (err error) {
			if s, err = sqlite.Open(path, sqlite.Options{}); err != nil {
				return err
			}
			p, err := s.List(context.Background(), run.Query{Limit: pageSize, After: after})
			if err == nil && state == "many" && len(p.Runs) != pageSize {
				return fmt.Errorf("a page of %d runs: %w", len(p.Runs), errWrong)
			}
			return err
		})
		if s != nil {
			err = errors.Join(err, s.Close())
		}
		return times, err
	}
}
