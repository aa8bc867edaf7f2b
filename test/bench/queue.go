//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store/sqlite"
)

// slots is how many of the queued runs may run at a time.
const slots = 2

// queued is how many runs wait.
func (b *bench) queued() int {
	if b.quick {
		return 100
	}
	return 1000
}

func measureQueue(b *bench) error {
	n := b.queued()
	bare := fmt.Sprintf("shell, xargs -P%d, %d x true", slots, n)
	ours := fmt.Sprintf("muster, %d runs, %d slots", n, slots)
	rounds := 2
	if b.quick {
		rounds = 1
	}
	round := 0
	results, err := race(rounds, []contender{
		{name: bare, once: func() ([]float64, error) {
			times, err := toItsEnd(func() *exec.Cmd {
				return exec.Command("/bin/sh", "-c", fmt.Sprintf("seq %d | xargs -P%d -n1 /bin/true", n, slots))
			})()
			if err != nil {
				return nil, err
			}
			return []float64{float64(n) / times[0] * 1000}, nil
		}},
		{name: ours, once: func() ([]float64, error) {
			round++
			return b.drain(fmt.Sprintf("queue%d", round), n)
		}},
	})
	if err != nil {
		return err
	}
	r := b.report
	floor := r.addResult(bare, "runs/s", results[bare], 0, nil)
	r.addResult(ours+", granted and ended", "runs/s", results[ours], 0, floor)
	r.addResult(ours+", submitted one by one", "runs/s", results[ours], 1, floor)
	r.addResult(ours+", our processes while all wait", "", results[ours], 2, nil, neverOver(2*slots, "processes"))
	r.addResult(ours+", memory (PSS) while all wait, without the task", "MB", results[ours], 3, nil, atMost(40, "MB"))
	r.addResult(ours+", memory (PSS) when half have ended", "MB", results[ours], 4, nil)
	return nil
}

// drain fills the queue behind a run that has all slots, looks at what those
// that wait cost, lets them go, and measures until all have ended.
func (b *bench) drain(state string, n int) ([]float64, error) {
	first, err := finish(b.queueCommand(state, "run", "-d", "--name", "first", "--framework", "plain", "-n", fmt.Sprint(slots), "--", "/bin/sleep", "600"))
	if err != nil {
		return nil, err
	}
	began := time.Now()
	for range n {
		if _, err := finish(b.queueCommand(state, "run", "-d", "--name", "wait", "--framework", "plain", "--", "/bin/true")); err != nil {
			return nil, err
		}
	}
	submitted := float64(n) / time.Since(began).Seconds()
	waiting := others(withArgument(b.path(state) + "/"))
	pss, _ := memory(waiting)
	s, err := sqlite.Open(filepath.Join(b.path(state), "muster.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	began = time.Now()
	half := 0.0
	if _, err = finish(b.queueCommand(state, "stop", strings.TrimSpace(first))); exitCode(err) > 0 {
		err = nil // it gives the code of the run
	}
	if err == nil {
		half, err = b.awaitDrained(s, state, n)
	}
	granted := float64(n) / time.Since(began).Seconds()
	return []float64{granted, submitted, float64(len(waiting)), pss, half}, errors.Join(err, s.Close())
}

func exitCode(err error) int {
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		return ee.ExitCode()
	}
	return 0
}

// queueCommand is a muster command on a machine with few slots.
func (b *bench) queueCommand(state string, args ...string) *exec.Cmd {
	c := b.command(state, args...)
	c.Env = append(c.Env, fmt.Sprintf("MUSTER_SLOTS=%d", slots))
	return c
}

// awaitDrained waits until no run is active, and says how much memory our
// processes had when half of them had ended. Nothing helps them: it reads the
// store only.
func (b *bench) awaitDrained(s *sqlite.Store, state string, n int) (half float64, err error) {
	left, changed := n, time.Now()
	for left > 0 {
		page, err := s.List(context.Background(), run.Query{Active: true})
		if err != nil {
			return 0, err
		}
		if len(page.Runs) != left {
			left, changed = len(page.Runs), time.Now()
		}
		if time.Since(changed) > 30*time.Second {
			return 0, fmt.Errorf("%d of %d runs are left, and none ends: %w", left, n, errWrong)
		}
		if half == 0 && left <= n/2 {
			half, _ = memory(withArgument(b.path(state) + "/"))
		}
		time.Sleep(50 * time.Millisecond)
	}
	return half, b.allSucceeded(s, n)
}

// allSucceeded is an error when a run that waited did not.
func (b *bench) allSucceeded(s *sqlite.Store, n int) error {
	succeeded := 0
	for q := (run.Query{Limit: 500}); ; {
		page, err := s.List(context.Background(), q)
		if err != nil {
			return err
		}
		for _, r := range page.Runs {
			if r.Phase == run.Succeeded {
				succeeded++
			}
		}
		if page.Next == "" {
			break
		}
		q.After = page.Next
	}
	if succeeded != n {
		return fmt.Errorf("%d of %d runs succeeded: %w", succeeded, n, errWrong)
	}
	return nil
}
