//go:build linux

package control

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
)

// nudgeInterval is how often an owner looks for an intent from another process.
const nudgeInterval = 50 * time.Millisecond

// alarms are what may give an owner something to decide about.
type alarms struct {
	seen  chan engine.Observed
	watch chan error   // how the watching has ended
	look  *time.Ticker // for other processes' nudges
	turn  *time.Ticker // for the queue
	wake  *time.Timer  // the supervisor's

	nudged time.Time // when we were, last
}

// newAlarms begins to watch the engine; the end of ctx ends that.
func (o *owner) newAlarms(ctx context.Context) *alarms {
	a := &alarms{
		seen: make(chan engine.Observed), watch: make(chan error, 1),
		look: time.NewTicker(nudgeInterval), turn: time.NewTicker(roundInterval), wake: time.NewTimer(0),
	}
	watched := o.p.engineRun(&o.run)
	go func() {
		a.watch <- o.p.config.Engine.Watch(ctx, watched, func(s engine.Observed) error {
			select {
			case a.seen <- s:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return a
}

func (a *alarms) stop() {
	a.look.Stop()
	a.turn.Stop()
	a.wake.Stop()
}

// await returns when there is something to decide about, or an error when there
// never will be.
func (o *owner) await(ctx context.Context, a *alarms) error {
	for {
		select {
		case o.seen = <-a.seen:
			if o.broken != "" {
				o.seen.Trouble = o.broken
			}
			return nil
		case <-a.wake.C:
			return nil
		case <-o.nudges:
			o.refresh(ctx)
			return nil
		case <-a.turn.C:
			if o.run.Phase != run.Pending || o.run.Grant != nil {
				continue
			}
			_ = o.p.round(ctx) // the next one tries again
			o.refresh(ctx)
			return nil
		case <-a.look.C:
			if !o.look(a) {
				continue
			}
			o.refresh(ctx)
			return nil
		case err := <-a.watch:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look says whether somebody has nudged us, or has removed the run's folder: with
// that nobody can reach us any more, and nothing more can be kept.
func (o *owner) look(a *alarms) bool {
	st, err := os.Stat(filepath.Join(o.dir, nudgeName))
	if err == nil {
		news := !st.ModTime().Equal(a.nudged)
		a.nudged = st.ModTime()
		return news
	}
	if _, err := os.Stat(o.dir); !errors.Is(err, fs.ErrNotExist) || o.broken != "" {
		return false
	}
	o.broken = "its folder " + o.dir + " was removed"
	o.seen.Trouble = o.broken
	return true
}
