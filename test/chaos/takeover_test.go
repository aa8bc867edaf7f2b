//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/taskhost/process"
)

// A takeover is a run whose owner is stopped, taken from it, and whose old owner
// then wakes.
type takeover struct {
	*round
	old   []proc
	taker *exec.Cmd
	early bool // the old owner wakes while the new one is at work, not after
}

// stopped waits until the owner is stopped: at its crash point, or by us once
// all tasks run.
func (k *takeover) stopped() error {
	if k.point == "" {
		k.awaitRunning()
		k.old = k.targets(Owner)
		if !signalAll(k.old, syscall.SIGSTOP) {
			return errors.New("there is no owner to stop")
		}
	}
	return await("the owner is stopped", patience/3, func() (bool, error) {
		if k.point != "" && !exists(k.fired) {
			return false, nil
		}
		k.old = k.targets(Owner)
		return len(k.old) == 1 && state(k.old[0].pid) == 'T', nil
	})
}

func state(pid int) byte {
	st, err := process.ReadStat(pid)
	if err != nil {
		return 0
	}
	return st.State
}

// take starts a new owner in the place of the stopped one and waits for the
// fence that keeps the old one out.
func (k *takeover) take() error {
	before, _, err := k.bed.read(k.id)
	if err != nil {
		return err
	}
	k.taker = k.bed.command(context.Background(), "own", k.bed.runDir(k.id), "take")
	if err := k.taker.Start(); err != nil {
		return err
	}
	return await("the new owner has its fence", patience/3, func() (bool, error) {
		now, _, err := k.bed.read(k.id)
		return now.Fence > before.Fence || now.Done(), err
	})
}

// wake lets the old owner go on.
func (k *takeover) wake() { signalAll(k.old, syscall.SIGCONT) }

// run carries it out and returns what was seen.
func (k *takeover) run() (History, error) {
	k.hist = History{Plan: k.plan}
	err := k.submit()
	if err == nil {
		_, err = k.awaitStored()
	}
	if err == nil {
		err = k.stopped()
	}
	defer k.wake()
	if err == nil {
		err = k.take()
	}
	if err != nil {
		return k.hist, err
	}
	if k.early {
		k.wake()
	}
	err = await("the run ends under its new owner", patience, func() (bool, error) {
		r, _, err := k.bed.read(k.id)
		return r.Done(), err
	})
	if err != nil {
		return k.hist, err
	}
	first, _, err := k.bed.read(k.id)
	if err != nil {
		return k.hist, err
	}
	k.wake()
	if err := k.awaitOldGone(); err != nil {
		return k.hist, err
	}
	err = k.collect()
	k.hist.Reads = append([]run.Run{first}, k.hist.Reads...)
	return k.hist, err
}

// awaitOldGone waits until the old owner and the new one have ended by
// themselves.
func (k *takeover) awaitOldGone() error {
	done := make(chan error, 1)
	go func() { done <- k.taker.Wait() }()
	return await("both owners end by themselves", patience, func() (bool, error) {
		for _, p := range k.old {
			if st := state(p.pid); st != 0 && st != 'Z' && len(readProc(p.pid).argv) > 0 {
				return false, nil
			}
		}
		return len(done) > 0, nil
	})
}

func checkTakeover(t *testing.T, k *takeover) History {
	t.Helper()
	h, err := k.run()
	if err != nil {
		t.Fatalf("%v\n%s", err, k.story())
	}
	for _, wrong := range Check(h) {
		t.Error(wrong)
	}
	if t.Failed() {
		t.Log(k.story())
	}
	return h
}

// TestStoppedOwner stops an owner while its tasks run, takes the run from it,
// and wakes it when the run has ended: that changes nothing.
func TestStoppedOwner(t *testing.T) {
	for _, isolation := range []string{"auto", "none"} {
		for _, early := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/early=%t", isolation, early), func(t *testing.T) {
				t.Parallel()
				p := plainPlan("stopped")
				p.Isolation, p.Rate = isolation, 20
				k := &takeover{round: &round{bed: testBed(t), plan: p}, early: early}
				h := checkTakeover(t, k)
				if r := h.Reads[0]; r.Fence != 3 {
					t.Errorf("fence %d, want 3: submit, owner, new owner", r.Fence)
				}
			})
		}
	}
}

// stopPoints are where an owner can be stopped, and how often it passes there.
var stopPoints = map[string]int{
	"own.locked": 1, "own.fenced": 1, "owner.before-save": 4, "owner.after-save": 4, "owner.after-apply": 2,
	"host.forked": 1, "local.before-greet": 1, "local.greeted": 1,
	"owner.before-forget": 1,
}

// TestStoppedAtEveryPoint stops the owner at each point that it passes, and
// takes the run from it.
func TestStoppedAtEveryPoint(t *testing.T) {
	for point, times := range stopPoints {
		for n := range times {
			for _, isolation := range []string{"auto", "none"} {
				for _, early := range []bool{false, true} {
					p := plainPlan(dotsAndStars.Replace(fmt.Sprintf("%s-%d-%s-%t", point, n+1, isolation, early)))
					p.Isolation = isolation
					if victim(point, p) == Owner {
						testStop(t, p, fmt.Sprintf("stop:%s*%d", point, n+1), early)
					}
				}
			}
		}
	}
}

func testStop(t *testing.T, p Plan, point string, early bool) {
	t.Run(p.Name, func(t *testing.T) {
		t.Parallel()
		b := testBed(t)
		r := &round{bed: b, plan: p, point: point, crasher: Owner, fired: filepath.Join(b.dir, "fired")}
		checkTakeover(t, &takeover{round: r, early: early})
	})
}
