//go:build linux

package taskhost

import (
	"io"
	"sync"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost/wire"
)

// An outbox sends reports to one owner. An owner that does not read (it may be
// stopped) never holds the host up: what changes meanwhile is merged, so the
// outbox is bounded by the number of instances.
type outbox struct {
	w    io.Writer
	mu   sync.Mutex
	wake *sync.Cond

	changed map[job.Instance]engine.Instance
	dropped map[job.Instance]bool
	trouble string
	full    bool
	closed  bool
	done    chan struct{} // closed when the last report is out
}

// newOutbox begins with a report of everything there is: an owner concludes
// from what is missing in it.
func newOutbox(w io.Writer, everything []engine.Instance, trouble string) *outbox {
	o := &outbox{w: w, changed: map[job.Instance]engine.Instance{}, dropped: map[job.Instance]bool{}, full: true, done: make(chan struct{})}
	o.wake = sync.NewCond(&o.mu)
	o.add(everything, nil, trouble)
	go o.loop()
	return o
}

// add merges what changed into the next report.
func (o *outbox) add(changed []engine.Instance, dropped []job.Instance, trouble string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, i := range changed {
		o.changed[i.Instance] = i
		delete(o.dropped, i.Instance)
	}
	for _, i := range dropped {
		o.dropped[i] = true
		delete(o.changed, i)
	}
	o.trouble = trouble
	o.wake.Signal()
}

func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.wake.Signal()
}

func (o *outbox) loop() {
	defer close(o.done)
	for {
		r, ok := o.take()
		if !ok {
			return
		}
		if err := wire.Write(o.w, wire.Message{Report: &r}); err != nil {
			return // the reading side sees the same and ends the conversation
		}
	}
}

// take waits for something to report.
func (o *outbox) take() (wire.Report, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.full && len(o.changed) == 0 && len(o.dropped) == 0 && !o.closed {
		o.wake.Wait()
	}
	r := wire.Report{Full: o.full, Trouble: o.trouble}
	for _, i := range o.changed {
		r.Changed = append(r.Changed, i)
	}
	for i := range o.dropped {
		r.Dropped = append(r.Dropped, i)
	}
	empty := !o.full && len(r.Changed) == 0 && len(r.Dropped) == 0
	o.full = false
	clear(o.changed)
	clear(o.dropped)
	return r, !(empty && o.closed)
}
