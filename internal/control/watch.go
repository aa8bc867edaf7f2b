//go:build linux

package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// pollInterval is how often the store is asked about a run that another process
// owns.
const pollInterval = 100 * time.Millisecond

// Watch implements run.Service.
func (p *Plane) Watch(ctx context.Context, id string, seen func(run.Run) error) error {
	p.mu.Lock()
	o := p.owned[id]
	p.mu.Unlock()
	if o != nil {
		if err := o.watch(ctx, seen); !errors.Is(err, errNotOwned) {
			return err
		}
	}
	return p.poll(ctx, id, seen)
}

// errNotOwned says that the owner in this process has gone before its run.
var errNotOwned = errors.New("not owned here any more")

func (o *owner) watch(ctx context.Context, seen func(run.Run) error) error {
	changes := make(chan struct{}, 1)
	o.mu.Lock()
	o.watchers[changes] = true
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.watchers, changes)
	}()
	for {
		o.mu.Lock()
		r, err := withUsage(o.run, o.live), o.err
		o.mu.Unlock()
		if err != nil {
			return err
		}
		if r.Done() {
			// Only when nothing is left is the end told.
			select {
			case <-o.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			return errors.Join(o.err, seen(r))
		}
		if err := seen(r); err != nil {
			return err
		}
		select {
		case <-changes:
		case <-o.done:
			if !o.ended() {
				return errNotOwned
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ended says that the owner has nothing more to tell but its run's end, or why
// it failed.
func (o *owner) ended() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.run.Done() || o.err != nil
}

// withUsage adds to a run what is never stored.
func withUsage(r run.Run, o engine.Observed) run.Run {
	usage := map[job.Instance]engine.Usage{}
	for _, i := range o.Instances {
		usage[i.Instance] = i.Usage
	}
	r.Tasks = slices.Clone(r.Tasks)
	for n := range r.Tasks {
		r.Tasks[n].Usage = usage[r.Tasks[n].Instance]
	}
	return r
}

// poll watches a run that another process owns.
func (p *Plane) poll(ctx context.Context, id string, seen func(run.Run) error) error {
	ticks := time.NewTicker(pollInterval)
	defer ticks.Stop()
	for rev := int64(-1); ; {
		r, err := p.Get(ctx, id)
		if err != nil {
			return err
		}
		if r.Rev != rev || usage(r) {
			rev = r.Rev
			if err := seen(r); err != nil {
				return err
			}
		}
		if r.Done() {
			return nil
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func usage(r run.Run) bool {
	for _, t := range r.Tasks {
		if t.Usage.Memory != 0 {
			return true
		}
	}
	return false
}
