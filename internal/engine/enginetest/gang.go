//go:build linux

package enginetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

// A gang is some tasks that a case gives to the engine itself, without a plane.
type gang struct {
	*subject
	run   engine.Run
	wants []engine.Want
}

var gangs atomic.Int32

// gang makes one of n workers that all run the same script.
func (b *bench) gang(n int, steps ...string) *gang {
	b.Helper()
	id := fmt.Sprintf("t%d-gang%d", os.Getpid(), gangs.Add(1))
	dir := filepath.Join(b.state, "runs", id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	g := &gang{subject: b.subject(id, dir), run: engine.Run{
		ID: id, Dir: dir, Fence: 1, Attached: true, Isolation: b.o.Isolation, Signal: "TERM", Grace: 20 * time.Second,
	}}
	for i := range n {
		t := job.Task{Role: "worker", Index: i}
		g.wants = append(g.wants, engine.Want{
			Instance: job.Instance{Task: t, Attempt: 1, Try: 1}, State: engine.Launched, Ports: 1, Listen: []int{0},
			Launch: &engine.Launch{
				Argv: append([]string{Binary("trainer")}, steps...), Dir: b.work,
				Env: append(os.Environ(), "MUSTER_RUN="+id, "MUSTER_TASK="+t.String(), "MUSTER_ATTEMPT=1"),
			},
		})
		b.contain(g.wants[i].Launch)
	}
	return g
}

// desired is what the owner with that fence wants of all of them.
func desired(wants []engine.Want, state engine.WantState, fence int64) engine.Desired {
	d := engine.Desired{Fence: fence, Attempt: 1, Tasks: slices.Clone(wants)}
	for i := range d.Tasks {
		w := &d.Tasks[i]
		w.State = state
		if state != engine.Launched {
			w.Launch = nil
		}
		if state == engine.Stopped {
			w.Signal, w.Grace = "TERM", 20*time.Second
		}
	}
	return d
}

// bringUp owns a run: it has every place held and then every task launched, and
// passes on what it sees until ctx ends. It applies from inside Watch.
func bringUp(ctx context.Context, e engine.Engine, r engine.Run, wants []engine.Want, seen func(engine.Observed) error) error {
	asked := engine.WantState("")
	return e.Watch(ctx, r, func(o engine.Observed) error {
		state := engine.Held
		if len(o.Instances) == len(wants) {
			state = engine.Launched
		}
		if o.Synced && asked != state {
			asked = state
			if err := e.Apply(ctx, r, desired(wants, state, r.Fence)); err != nil {
				return err
			}
		}
		return seen(o)
	})
}

// A viewer remembers what a watch has seen last.
type viewer struct {
	g      *gang
	cancel context.CancelFunc
	ended  chan struct{} // closed when the watch has ended

	mu   sync.Mutex
	last engine.Observed
	err  error
}

// watch starts a watch; how it does so is the caller's.
func (g *gang) watch(how func(context.Context, func(engine.Observed) error) error) *viewer {
	ctx, cancel := context.WithCancel(context.Background())
	v := &viewer{g: g, cancel: cancel, ended: make(chan struct{})}
	g.b.Cleanup(cancel)
	go func() {
		defer close(v.ended)
		err := how(ctx, v.take)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.err = err
	}()
	return v
}

func (v *viewer) take(o engine.Observed) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = o
	for _, i := range o.Instances {
		v.g.note(i.Ports)
		v.g.note(i.Listen)
	}
	return nil
}

// own brings the gang up as its owner, or goes on with it as the next one.
func (g *gang) own(e engine.Engine) *viewer {
	r := g.run
	return g.watch(func(ctx context.Context, seen func(engine.Observed) error) error {
		return bringUp(ctx, e, r, g.wants, seen)
	})
}

func (v *viewer) now() (engine.Observed, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last, v.err
}

// until waits until what is seen is as cond wants it.
func (v *viewer) until(what string, cond func(engine.Observed) bool) engine.Observed {
	v.g.b.Helper()
	var o engine.Observed
	v.g.b.await(what, func() bool {
		var err error
		if o, err = v.now(); err != nil {
			v.g.b.Fatalf("waited for %s: %v", what, err)
		}
		return cond(o)
	})
	return o
}

// every waits until every instance of the gang is as cond wants it.
func (v *viewer) every(what string, cond func(engine.Instance) bool) engine.Observed {
	v.g.b.Helper()
	return v.until(what, func(o engine.Observed) bool {
		return o.Synced && len(o.Instances) == len(v.g.wants) &&
			!slices.ContainsFunc(o.Instances, func(i engine.Instance) bool { return !cond(i) })
	})
}

// failure waits for the end of a watch and returns its error.
func (v *viewer) failure() error {
	v.g.b.Helper()
	v.g.b.await("the end of the watch", func() bool {
		select {
		case <-v.ended:
			return true
		default:
			return false
		}
	})
	_, err := v.now()
	return err
}

func running(i engine.Instance) bool { return i.State == engine.Running }

func gone(i engine.Instance) bool { return i.State.Gone() }

// dismiss stops the gang and forgets it.
func (g *gang) dismiss(e engine.Engine, v *viewer) {
	g.b.Helper()
	ctx := g.b.Context()
	if err := e.Apply(ctx, g.run, desired(g.wants, engine.Stopped, g.run.Fence)); err != nil {
		g.b.Fatal(err)
	}
	v.until("the end of the tasks", func(o engine.Observed) bool {
		return !slices.ContainsFunc(o.Instances, func(i engine.Instance) bool { return !gone(i) })
	})
	g.forget(e)
}

// forget has the engine forget the run, after which nothing may be left.
func (g *gang) forget(e engine.Engine) {
	g.b.Helper()
	if err := e.Forget(g.b.Context(), g.run); err != nil {
		g.b.Fatal(err)
	}
	g.nothingLeft(afterEnd)
}
