//go:build linux

package local

import (
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/taskhost"
)

// A warm host is one that waits for its hello. Before that it touches nothing,
// and when nobody says it, it goes.
type warm struct {
	iso     taskhost.Isolation
	started chan *taskhost.Process // nil when that did not work
}

// Warm implements engine.Warmer: the host starts while the run is recorded.
func (e *Engine) Warm(run engine.Run) (cool func()) {
	n := e.node(run)
	w := &warm{iso: n.isolations()[0], started: make(chan *taskhost.Process, 1)}
	n.mu.Lock()
	n.warm = w
	n.mu.Unlock()
	go func() {
		h, err := taskhost.Start(e.config.Exe, run.Dir, w.iso, !run.Attached)
		if err != nil {
			h = nil // whoever needs it will try again, and say why not
		}
		w.started <- h
	}()
	return func() {
		if h := n.takeWarm(w.iso); h != nil {
			_ = h.Conn.Close()
			_ = h.Handle.Close()
		}
	}
}

// takeWarm returns the warm host, if there is one of that isolation.
func (n *node) takeWarm(iso taskhost.Isolation) *taskhost.Process {
	n.mu.Lock()
	w := n.warm
	n.warm = nil
	n.mu.Unlock()
	if w == nil || w.iso != iso {
		return nil
	}
	return <-w.started
}
