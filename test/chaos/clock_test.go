//go:build linux

package chaos

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/test/suite"
)

// A wallClock is the clock of the machine, which must be set right again.
type wallClock struct {
	t     *testing.T
	wall  time.Time
	since time.Time // its monotonic reading goes on whatever the wall clock does
}

func newWallClock(t *testing.T) *wallClock {
	now := time.Now()
	return &wallClock{t, now.Round(0), now}
}

// step sets the clock to the right time plus off.
func (c *wallClock) step(off time.Duration) {
	c.t.Helper()
	ts := unix.NsecToTimespec(c.wall.Add(time.Since(c.since) + off).UnixNano())
	if err := unix.ClockSettime(unix.CLOCK_REALTIME, &ts); err != nil {
		c.t.Fatalf("set the clock: %v", err)
	}
}

// TestClockSteps moves the clock of the machine one hour back and forth again
// while runs with limits and restarts are under way. It is never ahead of the
// right time, which whoever watches the machine could take for a time-out.
func TestClockSteps(t *testing.T) {
	reason := ""
	if os.Getenv("MUSTER_CHAOS_CLOCK") == "" {
		reason = "it steps the clock of the machine; MUSTER_CHAOS_CLOCK=1 says that nobody else uses it"
	} else if os.Geteuid() != 0 {
		reason = "only root can set the clock"
	}
	suite.Require(t, "chaos-clock", reason)
	clock := newWallClock(t)
	t.Cleanup(func() { clock.step(0) })
	p := plainPlan("clock")
	p.Fails, p.Rate = true, 15
	r := &round{bed: testBed(t), plan: p, more: []string{"limits: {run: 5m, stall: 30s}"}}
	r.during = func() {
		r.awaitRunning()
		clock.step(-time.Hour)
		r.awaitAttempt(2)
		clock.step(0)
	}
	stopped := &round{bed: r.bed, plan: plainPlan("stopped")}
	stopped.plan.Lines, stopped.plan.Rate, stopped.plan.Pieces = 1, 4, 400
	stopped.during = func() {
		stopped.awaitRunning()
		clock.step(-time.Hour)
		if code, out, err := r.bed.muster("stop", stopped.id); err != nil || code != 0 {
			t.Errorf("muster stop: exit %d, %v: %s", code, err, out)
		}
	}
	h := inOrder(r.mustRun(t))
	for _, wrong := range Check(h) {
		t.Error(wrong)
	}
	if got := h.Reads[0]; got.Phase != run.Succeeded || got.Attempt != 2 || got.Took > 5*time.Minute || got.Took <= 0 {
		t.Errorf("%s in attempt %d after %v, want success in attempt 2\n%s", got.Phase, got.Attempt, got.Took, r.story())
	}
	if got := stopped.mustRun(t).Reads[0]; got.Phase != run.Stopped || got.Took > 5*time.Minute {
		t.Errorf("%s after %v, want Stopped\n%s", got.Phase, got.Took, stopped.story())
	}
}

// mustRun is run for a test that cannot go on without it.
func (r *round) mustRun(t *testing.T) History {
	t.Helper()
	h, err := r.run()
	if err != nil || len(h.Reads) == 0 {
		t.Fatalf("%v\n%s", err, r.story())
	}
	return h
}

// awaitAttempt waits until a task of that attempt runs, or the checks find that
// none does.
func (r *round) awaitAttempt(n int) {
	_ = await("the next attempt", patience/3, func() (bool, error) {
		events, err := r.bed.events(r.plan.Name)
		return len(events) > 0 && events[len(events)-1].Attempt >= n, err
	})
}

// inOrder replaces the times in a history, which jump, by the order in which
// they were written down.
func inOrder(h History) History {
	for i := range h.Events {
		h.Events[i].Time = time.Unix(int64(i), 0)
	}
	return h
}
