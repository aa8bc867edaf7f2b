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

// queues are how many runs wait. That takes minutes, so it is done once each:
// what counts is how the second compares with the first.
func (b *bench) queues() []int {
	if b.quick {
		return []int{20, 100}
	}
	return []int{100, 1000}
}

func measureQueue(b *bench) error {
	sizes := b.queues()
	n := sizes[len(sizes)-1]
	bare := fmt.Sprintf("shell, xargs -P%d, %d x true", slots, n)
	results, err := race(b.rounds(15), []contender{{name: bare, once: func() ([]float64, error) {
		times, err := toItsEnd(func() *exec.Cmd {
			return exec.Command("/bin/sh", "-c", fmt.Sprintf("seq %d | xargs -P%d -n1 /bin/true", n, slots))
		})()
		if err != nil {
			return nil, err
		}
		return []float64{float64(n) / times[0] * 1000}, nil
	}}})
	if err != nil {
		return err
	}
	floor := b.report.addResult(bare, "runs/s", results[bare], 0, nil)
	for _, n := range sizes {
		values, err := b.drain(fmt.Sprintf("queue%d", n), n)
		if err != nil {
			return err
		}
		b.reportQueue(fmt.Sprintf("muster, %d runs, %d slots", n, slots), values, floor)
	}
	return nil
}

func (b *bench) reportQueue(name string, values []float64, floor *figure) {
	r, of := b.report, func(i int) Samples { return Samples{values[i]} }
	r.add(name+", granted and ended", "runs/s", of(0), floor)
	r.add(name+", submitted one by one", "runs/s", of(1), floor)
	r.add(name+", our processes while all wait", "", of(2), nil, neverOver(2*slots, "processes"))
	r.add(name+", memory (PSS) while all wait, without the task", "MB", of(3), nil, atMost(40, "MB"))
	r.add(name+", memory (PSS) when half have ended", "MB", of(4), nil)
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
