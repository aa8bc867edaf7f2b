//go:build linux

// Package local is the engine that runs tasks on this machine, through one task
// host per run.
package local

import (
	"context"
	"sync"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/taskhost"
	"muster.dev/muster/internal/taskhost/container"
	"muster.dev/muster/internal/taskhost/process"
)

var (
	_ engine.Engine          = (*Engine)(nil)
	_ engine.LogReader       = (*Engine)(nil)
	_ engine.ContainerEngine = (*Engine)(nil)
	_ engine.Warmer          = (*Engine)(nil)
)

// An Engine runs tasks on this machine.
type Engine struct {
	config Config
	mu     sync.Mutex
	nodes  map[string]*node
	iso    taskhost.Isolation // what has worked; empty before the first host
	found  func() []string    // GPUs
	here   engine.Node
}

// Config is what an Engine needs.
type Config struct {
	// Exe is the muster binary; it is started again as the task host.
	Exe string

	// Alone says that this process has no children but ours, so that what it
	// adopts after the death of a host may be ended.
	Alone bool

	// Slots is how many tasks may run at a time, of all runs; 0 for any number.
	Slots int

	// GPUs replaces the devices that are found, if it is not nil.
	GPUs []string
}

// New returns an engine.
func New(c Config) *Engine {
	if c.Alone {
		// Without a PID namespace, what a killed host leaves behind comes to us.
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	}
	return &Engine{config: c, nodes: map[string]*node{}, found: sync.OnceValue(process.GPUs), here: thisNode(c.Exe)}
}

// Capabilities implements engine.Engine.
func (e *Engine) Capabilities() engine.Capabilities {
	return engine.Capabilities{
		Name: "local", Silence: true, Containers: true, Adds: taskhost.Variables,
		GPUs: e.gpus(), Slots: e.config.Slots, Node: e.here,
	}
}

// FindRuntime implements engine.ContainerEngine.
func (e *Engine) FindRuntime(env []string) (*engine.Runtime, error) {
	return container.Find(env, e.config.Exe)
}

// gpus are the devices to give out.
func (e *Engine) gpus() []string {
	if e.config.GPUs != nil {
		return e.config.GPUs
	}
	return e.found()
}

// node returns what we know of a run, which at first is nothing.
func (e *Engine) node(run engine.Run) *node {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.nodes[run.ID]
	if n == nil {
		n = newNode(e, run)
		e.nodes[run.ID] = n
	}
	return n
}

// Apply implements engine.Engine.
func (e *Engine) Apply(ctx context.Context, run engine.Run, want engine.Desired) error {
	return e.node(run).apply(ctx, want)
}

// Watch implements engine.Engine.
func (e *Engine) Watch(ctx context.Context, run engine.Run, seen func(engine.Observed) error) error {
	n := e.node(run)
	n.find()
	changes := n.subscribe()
	defer n.unsubscribe(changes)
	for {
		o, err := n.observed()
		if err != nil {
			return err
		}
		if err := seen(o); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changes:
		}
	}
}

// Forget implements engine.Engine.
func (e *Engine) Forget(ctx context.Context, run engine.Run) error {
	n := e.node(run)
	if err := n.forget(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.nodes, run.ID)
	return nil
}
