//go:build linux

package control

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/taskhost/process"
)

// taskInterval is how soon what was only seen of tasks is stored. The next owner
// asks the engine for it anyway; other processes see it that much later.
const taskInterval = 200 * time.Millisecond

// save stores what was decided, if anything was, and tells who is watching. It
// returns when it wants to be called again; 0 is never.
func (o *owner) save(ctx context.Context, r run.Run) (again time.Duration, err error) {
	crash.Point("owner.before-save")
	if again = o.due(&r); again == 0 && (o.unsaved || !sameButClock(&o.stored, &r)) {
		err := o.store(ctx, &r)
		if problem.KindOf(err) == problem.Stale {
			return 0, err
		}
		if o.unsaved = err != nil; err != nil && (r.Done() || r.Attempt != o.run.Attempt) {
			return 0, err
		}
		// Else the tasks must still be looked after, and ended if need be: the
		// next step stores again.
	}
	crash.Point("owner.after-save")
	o.mu.Lock()
	defer o.mu.Unlock()
	o.run = r
	o.live = o.seen
	o.notify()
	return again, nil
}

// due says in how long r is to be stored; 0 is now, or not at all.
func (o *owner) due(r *run.Run) time.Duration {
	decided := *r
	decided.Tasks = o.stored.Tasks
	if o.unsaved || !sameButClock(&o.stored, &decided) || sameButClock(&o.stored, r) {
		return 0
	}
	return max(time.Until(o.storedAt.Add(taskInterval)), 0)
}

// store writes r, unless another owner has taken over. A full disk does not
// keep it from a verdict: there is a reserve, and the tasks are gone by then.
func (o *owner) store(ctx context.Context, r *run.Run) error {
	write := func() (run.Run, error) {
		return o.p.config.Store.Update(ctx, r.ID, func(old *run.Run) error {
			if old.Fence != r.Fence {
				return problem.New(problem.Stale, "a newer owner has taken over %s", r.ID)
			}
			r.Progress.Saved = process.Monotonic()
			keepOthers(r, old)
			*old = *r
			return nil
		})
	}
	stored, err := write()
	for tries := 0; err != nil && r.Done() && problem.KindOf(err) != problem.Stale && tries < 50; tries++ {
		_ = os.Remove(filepath.Join(o.dir, reserveName))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		stored, err = write()
	}
	if err == nil {
		r.Rev = stored.Rev
		o.stored, o.storedAt = *r, time.Now()
	}
	return err
}

// keepOthers takes into r what others than its owner write: intents, and what
// the run is given or waits for.
func keepOthers(r, stored *run.Run) {
	r.Intent, r.Rev, r.Grant, r.Needs = stored.Intent, stored.Rev, stored.Grant, stored.Needs
	if r.Phase == run.Pending && stored.Phase == run.Pending {
		r.Reason = stored.Reason
	}
	if r.Phase == run.Suspended {
		r.Grant = nil // others may use it meanwhile
		r.Spec = stored.Spec
	}
}

// sameButClock says whether two states of a run differ in nothing but the time
// that has passed.
func sameButClock(a, b *run.Run) bool {
	at := *b
	at.Progress.Clock, at.Progress.Saved = a.Progress.Clock, a.Progress.Saved
	return reflect.DeepEqual(a, &at)
}
