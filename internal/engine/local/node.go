//go:build linux

package local

import (
	"context"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/taskhost"
	"muster.dev/muster/internal/taskhost/container"
	"muster.dev/muster/internal/taskhost/process"
	"muster.dev/muster/internal/taskhost/wire"
)

// A node is one run on this machine: its host, and what that has reported.
type node struct {
	e   *Engine
	run engine.Run

	finding sync.Once
	applyMu sync.Mutex // one Apply at a time, so that one host is started

	mu        sync.Mutex
	host      *taskhost.Process // nil: none is alive
	gone      chan struct{}     // closed when host is gone
	warm      *warm             // started early; nil: none
	instances map[job.Instance]engine.Instance
	trouble   string
	synced    bool
	stillborn int // hosts in a row that died before they had reported anything
	stale     error
	watchers  map[chan struct{}]bool
	pids      map[job.Instance]int // as this machine counts them
}

func newNode(e *Engine, run engine.Run) *node {
	return &node{e: e, run: run, instances: map[job.Instance]engine.Instance{}, watchers: map[chan struct{}]bool{}, pids: map[job.Instance]int{}}
}

// subscribe returns a channel that has something in it after every change.
func (n *node) subscribe() chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := make(chan struct{}, 1)
	n.watchers[c] = true
	return c
}

func (n *node) unsubscribe(c chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.watchers, c)
}

// notify must be called with mu held.
func (n *node) notify() {
	for c := range n.watchers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// observed is everything we know.
func (n *node) observed() (engine.Observed, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stale != nil {
		return engine.Observed{}, n.stale
	}
	all := slices.SortedFunc(maps.Values(n.instances), func(a, b engine.Instance) int { return job.CompareInstances(a.Instance, b.Instance) })
	nodes := map[string]engine.Node{}
	for _, i := range all {
		nodes[i.Node] = n.e.here // a machine may be renamed, and is still the only one
	}
	return engine.Observed{Synced: n.synced, Instances: all, Nodes: nodes, Trouble: n.trouble}, nil
}

// apply starts a host if one is needed and tells it what should be.
func (n *node) apply(ctx context.Context, want engine.Desired) error {
	n.applyMu.Lock()
	defer n.applyMu.Unlock()
	n.find()
	n.mu.Lock()
	host, stale, synced := n.host, n.stale, n.synced
	n.mu.Unlock()
	switch {
	case stale != nil:
		return stale
	case want.Fence < n.run.Fence:
		return problem.New(problem.Stale, "a newer owner has taken over %s", n.run.ID)
	case !synced:
		return problem.New(problem.Conflict, "%s is not in sync with its host yet", n.run.ID)
	}
	if host == nil {
		if !n.needsHost(want) {
			return nil
		}
		var err error
		if host, err = n.start(); err != nil {
			return err
		}
	}
	n.send(host, 30*time.Second, wire.Message{Apply: &want})
	return nil
}

// needsHost says whether want has something that is not there.
func (n *node) needsHost(want engine.Desired) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range want.Tasks {
		if _, known := n.instances[w.Instance]; !known && w.State != engine.Stopped {
			return true
		}
	}
	return false
}

// take merges a report. One that is read after its host's end is older than
// what has been concluded from that.
func (n *node) take(h *taskhost.Process, r *wire.Report) {
	for _, i := range r.Changed {
		if t := i.Taken; t != nil && t.By == "" {
			t.By = process.PortUser(t.Port) // a host in a namespace sees only its own tasks
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.host != h {
		return
	}
	if len(r.Changed) > 0 {
		n.stillborn = 0
	}
	n.learnPids(r.Changed)
	for _, i := range r.Changed {
		i.Pid = n.outerPid(i)
		n.instances[i.Instance] = i
	}
	for _, i := range r.Dropped {
		delete(n.instances, i)
	}
	if r.Trouble != "" {
		n.trouble = r.Trouble
	}
	if r.Full {
		n.synced = true
	}
	n.notify()
}

func (n *node) markStale(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stale = problem.New(problem.Stale, "%s: %s", n.run.ID, text)
	n.notify()
}

// forget ends the host and waits until it is gone.
func (n *node) forget(ctx context.Context) error {
	n.find()
	n.mu.Lock()
	host, gone, stale := n.host, n.gone, n.stale
	n.mu.Unlock()
	if stale != nil {
		return stale
	}
	if host != nil {
		if err := n.dismiss(ctx, host, gone); err != nil {
			return err
		}
	}
	if err := container.Sweep(n.run.Dir, n.run.ID); err != nil {
		return err
	}
	if err := os.RemoveAll(container.Dir(n.run.Dir)); err != nil {
		return err
	}
	for _, name := range []string{taskhost.SocketName, taskhost.StateName, taskhost.StateName + ".new", taskhost.HookName, taskhost.JournalName} {
		_ = os.Remove(n.run.Dir + "/" + name)
	}
	if err := os.RemoveAll(n.run.Dir + "/" + taskhost.RanksName); err != nil {
		return err
	}
	return os.RemoveAll(n.run.Dir + "/python")
}

// dismiss asks a host to go, and ends it when it does not.
func (n *node) dismiss(ctx context.Context, host *taskhost.Process, gone chan struct{}) error {
	n.send(host, time.Second, wire.Message{Forget: &wire.Forget{}})
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(10 * time.Second):
	}
	if raw, err := host.Handle.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0) })
	}
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
