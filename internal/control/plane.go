//go:build linux

// Package control runs jobs in this process: it is the run.Service that needs
// no server. A Plane keeps runs in a store, drives those it owns with the
// supervisor, and lets other processes own the rest.
package control

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/snapshot"
	"muster.dev/muster/internal/store"
)

var _ run.Service = (*Plane)(nil)

// Config is what a Plane needs.
type Config struct {
	StateDir string
	Store    store.Store
	Engine   engine.Engine
	// Exe is the muster binary, which owns detached runs as "muster own".
	Exe string
}

// A Plane is a run.Service in this process.
type Plane struct {
	config Config
	code   *snapshot.Store
	mu     sync.Mutex
	owned  map[string]*owner

	rescued map[string]time.Time // when an owner was last started, by run
	start   func(id string) error
}

// New returns a Plane.
func New(c Config) *Plane {
	p := &Plane{config: c, code: &snapshot.Store{Dir: filepath.Join(c.StateDir, "code")}, owned: map[string]*owner{}, rescued: map[string]time.Time{}}
	p.start = p.spawnOwner
	return p
}

// runDir is the folder of a run: its records, logs, outputs and checkpoints.
func (p *Plane) runDir(id string) string { return filepath.Join(p.config.StateDir, "runs", id) }

// engineRun names a run to the engine.
func (p *Plane) engineRun(r *run.Run) engine.Run {
	return engine.Run{
		ID: r.ID, Dir: p.runDir(r.ID), Fence: r.Fence, Attached: r.Attached, Isolation: isolation(&r.Spec),
		LogLimit: int64(r.Spec.Logs.Limit), Signal: r.Spec.Stop.SignalOr(), Grace: r.Spec.Stop.GraceOr(),
	}
}

// isolation is what a job asks for. What makes containers remembers processes
// by their pids, so with images these must be the machine's own.
func isolation(s *job.Spec) string {
	if s.HasImage() {
		return "none"
	}
	return s.Isolation
}

// Get implements run.Service.
func (p *Plane) Get(ctx context.Context, ref string) (run.Run, error) {
	r, err := p.config.Store.Get(ctx, ref)
	if err != nil {
		return r, err
	}
	if p.rescue(&r) && !r.Done() {
		p.settle(ctx, &r)
	}
	p.addLive(&r)
	return r, nil
}

// List implements run.Service.
func (p *Plane) List(ctx context.Context, q run.Query) (run.Page, error) {
	page, err := p.config.Store.List(ctx, q)
	var rescued []*run.Run
	for i := range page.Runs {
		if r := &page.Runs[i]; p.rescue(r) && !r.Done() {
			rescued = append(rescued, r)
		}
	}
	for _, r := range rescued { // their owners begin side by side
		p.settle(ctx, r)
	}
	for i := range page.Runs {
		p.addLive(&page.Runs[i])
	}
	return page, err
}

// Update implements run.Service.
func (p *Plane) Update(ctx context.Context, id string, i run.Intent) (run.Run, error) {
	if i.Want == run.WantRemove {
		return p.remove(ctx, id)
	}
	r, err := p.config.Store.Update(ctx, id, func(r *run.Run) error {
		if r.Done() {
			return problem.New(problem.Conflict, "%s has ended already: %s", r.ID, r.Phase)
		}
		if r.Intent.Want == run.WantStop && i.Want != run.WantStop {
			return problem.New(problem.Conflict, "%s is being stopped", r.ID).WithHint("muster rerun %s, once it has ended", r.ID)
		}
		if err := resize(r, i.Sizes); err != nil {
			return err
		}
		i.Force = i.Force || r.Intent.Force
		if r.Intent.Want == run.WantStop {
			i.By, i.Signal = r.Intent.By, r.Intent.Signal // who stopped it first
		}
		r.Intent = i
		return nil
	})
	if err != nil {
		return r, err
	}
	p.nudge(id)
	p.rescue(&r)
	return r, nil
}
