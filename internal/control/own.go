//go:build linux

package control

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/supervisor"
	"muster.dev/muster/internal/taskhost/process"
)

// An owner drives one run: it is the only one who decides for it.
type owner struct {
	p        *Plane
	lock     *lock
	dir      string
	launcher *launch.Launcher
	nudges   chan struct{}

	mu       sync.Mutex
	run      run.Run         // as stored
	live     engine.Observed // as last seen
	watchers map[chan struct{}]bool
	err      error
	done     chan struct{}

	// The rest belongs to the loop.
	seen      engine.Observed
	applied   *engine.Desired
	appliedAt time.Time
	stored    run.Run // as last written by us, and when
	storedAt  time.Time
	unsaved   bool   // the store did not take the last state
	broken    string // why the engine cannot go on
	shown     time.Time
	last      time.Time
	extra     time.Duration // what passed before our time
}

// ownAttached owns a run from its submission on, in this process.
func (p *Plane) ownAttached(r run.Run, l *lock) error {
	o, err := p.newOwner(r, l)
	if err != nil {
		l.release()
		return err
	}
	go o.drive(context.Background())
	return nil
}

// Own owns a detached or deserted run until it ends. It returns a Conflict when
// the run has an owner; with force it takes the run from that one.
func (p *Plane) Own(ctx context.Context, id string, force bool) error {
	l, err := takeLock(p.runDir(id), force)
	if err != nil {
		return err
	}
	crash.Point("own.locked")
	r, err := p.config.Store.Update(ctx, id, func(r *run.Run) error {
		if r.Done() {
			return nil
		}
		r.Fence++
		if r.Attached && r.Intent.Want != run.WantStop {
			r.Intent = run.Intent{Want: run.WantStop, By: "the end of the muster run that it was attached to"}
		}
		return nil
	})
	if err != nil {
		l.release()
		return err
	}
	crash.Point("own.fenced")
	o, err := p.newOwner(r, l)
	if err != nil {
		l.release()
		return err
	}
	if r.Progress.Saved != 0 && r.Origin.Boot == process.BootID() {
		o.extra = max(time.Duration(process.Monotonic()-r.Progress.Saved), 0)
	}
	o.drive(ctx)
	if r, err := p.config.Store.Get(ctx, id); err == nil && o.err == nil && !r.Done() {
		p.rescue(&r) // resumed while we were leaving
	}
	return o.err
}

// Take implements run.Taker.
func (p *Plane) Take(ctx context.Context, id string) error { return p.Own(ctx, id, true) }

func (p *Plane) newOwner(r run.Run, l *lock) (*owner, error) {
	o := &owner{
		p: p, lock: l, dir: p.runDir(r.ID), run: r, stored: r, nudges: make(chan struct{}, 1),
		watchers: map[chan struct{}]bool{}, done: make(chan struct{}), last: time.Now(), shown: time.Now(),
	}
	v, err := readPrivate(o.dir)
	if err != nil && !r.Done() {
		// Nobody can start its tasks any more: it ends as failed, with that reason.
		o.broken = "what the run was to be started with is gone: " + err.Error()
	}
	o.launcher = &launch.Launcher{Dir: o.dir, Private: v}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owned[r.ID] = o
	return o, nil
}

func (o *owner) nudge() {
	select {
	case o.nudges <- struct{}{}:
	default:
	}
}

// drive runs the loop and says how it ended.
func (o *owner) drive(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := o.loop(ctx)
	o.mu.Lock()
	o.err = err
	o.notify()
	o.mu.Unlock()
	o.p.mu.Lock()
	delete(o.p.owned, o.run.ID)
	o.p.mu.Unlock()
	o.lock.release()
	close(o.done)
}

// loop decides whenever there is something to decide about.
func (o *owner) loop(ctx context.Context) error {
	a := o.newAlarms(ctx)
	defer a.stop()
	for {
		if err := o.await(ctx, a); err != nil {
			return err
		}
		o.showUsage()
		was := o.run.Phase
		next, err := o.step(ctx)
		if err != nil || o.run.Done() {
			return errors.Join(err, o.finish(ctx, err))
		}
		if sleeps(&o.run) && !o.unsaved {
			return o.rest(ctx)
		}
		o.takeTurns(ctx, was)
		a.wake.Stop()
		if next > 0 {
			a.wake.Reset(next)
		}
	}
}

// showUsage tells other processes how the tasks are doing.
func (o *owner) showUsage() {
	if time.Since(o.shown) < time.Second || len(o.seen.Instances) == 0 || !o.lock.holds() {
		return
	}
	o.shown = time.Now()
	writeLive(o.dir, o.seen)
}

// refresh takes in an intent that another process has stored.
func (o *owner) refresh(ctx context.Context) {
	if stored, err := o.p.config.Store.Get(ctx, o.run.ID); err == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		keepOthers(&o.run, &stored)
		keepOthers(&o.stored, &stored)
	}
}

// step decides, stores what was decided and then brings it about.
func (o *owner) step(ctx context.Context) (time.Duration, error) {
	now := time.Now()
	t := supervisor.Tick{Elapsed: now.Sub(o.last) + o.extra, Now: now.Round(0)}
	o.last, o.extra = now, 0
	d := supervisor.Next(o.run, o.seen, t)
	if d.Run.Done() && !o.run.Done() {
		o.collect(&d.Run)
	}
	again, err := o.save(ctx, d.Run)
	if err != nil {
		return 0, err
	}
	d.Wake = sooner(d.Wake, again)
	if d.Want == nil || d.Run.Done() {
		return d.Wake, nil
	}
	d.Want.Fence = o.run.Fence
	if err := o.launcher.Fill(&d.Run, o.seen, d.Want); err != nil {
		return time.Millisecond, o.failApply(err)
	}
	if o.applied != nil && reflect.DeepEqual(*o.applied, *d.Want) {
		again := time.Until(o.appliedAt.Add(againAfter))
		switch {
		case !missing(d.Want, o.seen):
			return d.Wake, nil
		case again > 0: // what is missing is most often on its way
			return sooner(d.Wake, again), nil
		}
	}
	if err := o.p.config.Engine.Apply(ctx, o.p.engineRun(&d.Run), *d.Want); err != nil {
		return time.Millisecond, o.failApply(err)
	}
	crash.Point("owner.after-apply")
	o.applied, o.appliedAt = d.Want, time.Now()
	return d.Wake, nil
}

// againAfter is when the same is asked again of an engine that has not done it.
const againAfter = 100 * time.Millisecond

// sooner is the earlier of two wakes, of which any may be none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// failApply turns what an engine cannot do into the run's own failure: another
// owner could not do it either. It returns what is no fault of the run.
func (o *owner) failApply(err error) error {
	switch problem.KindOf(err) {
	case problem.Stale:
		return err
	case problem.Conflict:
		return nil // not in sync yet: the next observation comes
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	o.broken = err.Error()
	o.seen.Trouble = o.broken
	return nil
}

// collect keeps the outputs of a run that is about to end.
func (o *owner) collect(r *run.Run) {
	if err := o.p.collect(r); err != nil {
		r.Notes = append(r.Notes, "not all outputs were kept: "+err.Error())
	}
}

// missing says that something wanted is not there although it was asked for: a
// host that dies takes with it the places that it held.
func missing(want *engine.Desired, seen engine.Observed) bool {
	there := map[job.Instance]engine.State{}
	for _, i := range seen.Instances {
		there[i.Instance] = i.State
	}
	return slices.ContainsFunc(want.Tasks, func(w engine.Want) bool {
		state, ok := there[w.Instance]
		return w.State != engine.Stopped && !ok || w.State == engine.Launched && state == engine.Holding
	})
}

// notify must be called with mu held.
func (o *owner) notify() {
	for c := range o.watchers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
