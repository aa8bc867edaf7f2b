//go:build linux

package local

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/taskhost"
	"muster.dev/muster/internal/taskhost/container"
	"muster.dev/muster/internal/taskhost/process"
	"muster.dev/muster/internal/taskhost/wire"
)

// errBusy says that the run has a host already, which was not on record when we
// looked: an owner from which the run was taken had just begun to start it.
var errBusy = errors.New("the run has another task host")

// start starts a host, or adopts the one that was there before it.
func (n *node) start() (*taskhost.Process, error) {
	for range 5 {
		h, err := n.startNew()
		if !errors.Is(err, errBusy) {
			return h, err
		}
		rec, err := taskhost.ReadRecord(n.run.Dir)
		if rec == nil || err != nil {
			continue // it is about to write it, or to end
		}
		if h, err = n.reach(rec); h != nil || err != nil {
			return h, err
		}
	}
	return nil, problem.Wrap(problem.Refused, errBusy, "start a task host for %s", n.run.ID)
}

// startNew starts a host, in the best isolation that this machine gives. A host
// that dies before it answers was killed, or cannot live: that is tried twice.
func (n *node) startNew() (*taskhost.Process, error) {
	var last error
	for _, iso := range n.isolations() {
		for range 2 {
			h, err := n.startIn(iso)
			if err == nil {
				n.e.works(iso, n.run)
				n.keep(h)
				return h, nil
			}
			if problem.KindOf(err) == problem.Stale || errors.Is(err, errBusy) {
				return nil, err
			}
			if last = err; !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
				break
			}
		}
	}
	return nil, problem.Wrap(problem.Refused, last, "start a task host for %s", n.run.ID)
}

// startIn starts a host in one isolation and greets it.
func (n *node) startIn(iso taskhost.Isolation) (*taskhost.Process, error) {
	h := n.takeWarm(iso)
	if h == nil {
		var err error
		if h, err = taskhost.Start(n.e.config.Exe, n.run.Dir, iso, !n.run.Attached); err != nil {
			return nil, err
		}
	}
	crash.Point("local.before-greet")
	err := n.greet(h.Conn, &h.Record)
	crash.Point("local.greeted")
	if err != nil {
		_ = h.Conn.Close()
		_ = h.Handle.Close()
		return nil, err
	}
	return h, nil
}

// isolations are those to try, in order.
func (n *node) isolations() []taskhost.Isolation {
	if n.run.Isolation == "none" {
		return []taskhost.Isolation{taskhost.NoIsolation}
	}
	n.e.mu.Lock()
	defer n.e.mu.Unlock()
	if n.e.iso != "" {
		return []taskhost.Isolation{n.e.iso}
	}
	return []taskhost.Isolation{taskhost.Best(), taskhost.NoIsolation}
}

// works remembers which isolation this machine gives to runs that leave it to us.
func (e *Engine) works(iso taskhost.Isolation, run engine.Run) {
	if run.Isolation != "none" {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.iso = iso
	}
}

// greet says hello to a host and waits for its answer.
func (n *node) greet(conn net.Conn, rec *taskhost.Record) error {
	record, err := rec.Encode()
	if err != nil {
		return err
	}
	hello := &wire.Hello{Version: wire.Version, Run: n.run.ID, Fence: n.run.Fence, Config: &wire.Config{
		Dir: n.run.Dir, Record: record, Attached: n.run.Attached, Signal: n.run.Signal, Grace: n.run.Grace, LogLimit: n.run.LogLimit,
		Own: []string{n.e.config.Exe, "own", n.run.Dir},
	}}
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	defer func() { _ = conn.SetDeadline(time.Time{}) }()
	if err := wire.Write(conn, wire.Message{Hello: hello}); err != nil {
		return err
	}
	m, err := wire.Read(conn)
	switch {
	case err != nil:
		return fmt.Errorf("the task host did not answer; see %s/host.log: %w", n.run.Dir, err)
	case m.Refuse != nil && m.Refuse.Stale:
		return problem.New(problem.Stale, "%s: %s", n.run.ID, m.Refuse.Text)
	case m.Refuse != nil && m.Refuse.Busy:
		return errBusy
	case m.Refuse != nil:
		return errors.New(m.Refuse.Text)
	case m.Hello == nil:
		return errors.New("the task host answered with something else than hello")
	}
	return nil
}

// keep watches a host: what it reports, and its end.
func (n *node) keep(h *taskhost.Process) {
	n.mu.Lock()
	n.host, n.gone = h, make(chan struct{})
	gone := n.gone
	n.mu.Unlock()
	go n.listen(h, h.Conn, gone)
	go func() {
		process.AwaitEnd(h.Handle)
		n.bury(h)
		close(gone)
	}()
}

func (n *node) listen(h *taskhost.Process, conn net.Conn, gone chan struct{}) {
	for {
		m, err := wire.Read(conn)
		switch {
		case err != nil:
			n.reconnect(h, gone)
			return
		case m.Report != nil:
			n.take(h, m.Report)
		case m.Refuse != nil && m.Refuse.Stale:
			n.markStale(m.Refuse.Text)
			return
		}
	}
}

// reconnect finds out why a host's stream has ended: most often the host has
// too; else another owner may have come.
func (n *node) reconnect(h *taskhost.Process, gone chan struct{}) {
	select {
	case <-gone:
		return
	case <-time.After(time.Second):
	}
	for n.keeps(h) { // whoever answers later is another host
		conn, err := n.dial(&h.Record)
		switch {
		case problem.KindOf(err) == problem.Stale:
			n.markStale("a newer owner has taken over")
			return
		case err == nil:
			n.mu.Lock()
			_ = h.Conn.Close()
			h.Conn = conn
			n.mu.Unlock()
			n.listen(h, conn, gone)
			return
		}
		select { // it does not answer now, and may later
		case <-gone:
			return
		case <-time.After(time.Second):
		}
	}
}

// dial opens a stream to a host that is on record, and greets it.
func (n *node) dial(rec *taskhost.Record) (net.Conn, error) {
	conn, err := taskhost.Dial(n.run.Dir)
	if err != nil {
		return nil, err
	}
	if err := n.greet(conn, rec); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// keeps says whether h is the host, and not known to be gone.
func (n *node) keeps(h *taskhost.Process) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.host == h
}

// send tells a host something. One that dies now is noticed by its watcher; the
// error of the write adds nothing.
func (n *node) send(h *taskhost.Process, within time.Duration, m wire.Message) {
	n.mu.Lock()
	conn := h.Conn
	n.mu.Unlock()
	_ = conn.SetWriteDeadline(time.Now().Add(within))
	_ = wire.Write(conn, m)
}

// find looks for the host of a run that another owner may have started.
func (n *node) find() { n.finding.Do(n.findHost) }

func (n *node) findHost() {
	rec, err := n.onRecord()
	if rec == nil || err != nil {
		n.conclude(nil)
		return
	}
	switch h, err := n.reach(rec); {
	case err != nil:
		n.markStale("a newer owner has taken over")
	case h == nil:
		n.conclude(rec)
	}
}

// onRecord returns the host that is on record. Before it says that there is none
// it sees to it that none comes: an owner before us may have greeted one that
// has yet to hear it, and would claim the run after its end.
func (n *node) onRecord() (*taskhost.Record, error) {
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		var barred error
		if n.run.Fence > 1 {
			barred = taskhost.Bar(n.run.Dir, n.run.Fence)
		}
		rec, err := taskhost.ReadRecord(n.run.Dir)
		// One that has claimed the run is about to be on record, or to end.
		if rec != nil || err != nil || !errors.Is(barred, taskhost.ErrBusy) || time.Since(begin) > 2*time.Second {
			return rec, err
		}
	}
}

// reach greets and keeps a host that is on record. It returns nil when the host
// is gone, and an error when a newer owner has it.
func (n *node) reach(rec *taskhost.Record) (*taskhost.Process, error) {
	handle := rec.Open()
	if handle == nil {
		return nil, nil
	}
	h := &taskhost.Process{Record: *rec, Handle: handle}
	for !process.Ended(handle, 0) {
		var err error
		if h.Conn, err = n.dial(rec); err == nil {
			n.keep(h)
			return h, nil
		}
		if problem.KindOf(err) == problem.Stale {
			_ = handle.Close()
			return nil, err
		}
		process.Ended(handle, 50*time.Millisecond) // it is starting, or ending
	}
	_ = handle.Close()
	return nil, nil
}

// maxStillborn is how many hosts in a row may die before they have done
// anything: something on this machine does not let them live.
const maxStillborn = 5

// bury takes note that a host is gone.
func (n *node) bury(h *taskhost.Process) {
	n.mu.Lock()
	n.host = nil
	_ = h.Conn.Close()
	if n.stillborn++; n.stillborn >= maxStillborn {
		n.trouble = fmt.Sprintf("its task host died %d times before it held a place; see %s/host.log", n.stillborn, n.run.Dir)
	}
	n.mu.Unlock()
	n.conclude(&h.Record)
	_ = h.Handle.Close()
}

// conclude works out what became of the instances of a host that is gone: what
// its journal says, and lost where it says nothing.
func (n *node) conclude(rec *taskhost.Record) {
	// Containers outlive a restart of the machine, too, if only as files.
	sweepErr := container.Sweep(n.run.Dir, n.run.ID)
	if rec != nil && rec.Boot == process.BootID() {
		n.sweep(rec)
	}
	entries, err := taskhost.ReadJournal(n.run.Dir)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := errors.Join(err, sweepErr); err != nil {
		n.trouble = err.Error()
	}
	for _, i := range entries {
		n.instances[i.Instance] = i
	}
	for k, i := range n.instances {
		switch {
		case i.State.Gone():
		case i.State == engine.Holding:
			delete(n.instances, k)
		case i.State == engine.Clearing: // it is known how its program ended
			i.State, i.Note = engine.Exited, "its teardown was cut short: its task host was killed"
			n.instances[k] = i
		default:
			i.State, i.Cause, i.Ended = engine.Lost, engine.ByLoss, time.Now()
			i.Detail = "its task host was killed"
			if rec != nil && rec.Boot != process.BootID() {
				i.Detail = "the machine was restarted"
			}
			n.instances[k] = i
		}
	}
	n.synced = true
	n.notify()
}

// sweep ends what a killed host left behind. In a PID namespace the kernel has
// done so before the host's handle said that it is gone.
func (n *node) sweep(rec *taskhost.Record) {
	crash.Point("local.before-sweep")
	defer process.RemoveCgroups(n.run.ID) // only empty ones can be
	if rec.Isolation != taskhost.NoIsolation {
		return
	}
	_, err := os.Stat(container.Dir(n.run.Dir))
	boxed := err == nil
	for begin := time.Now(); time.Since(begin) < 10*time.Second; {
		left, adopted := process.WithEnv("MUSTER_RUN="+n.run.ID), []int(nil)
		if n.e.config.Alone {
			adopted = n.adopted()
		}
		if len(left)+len(adopted) == 0 {
			return
		}
		// A container runtime freezes what it removes: killed on the way, it
		// would leave processes behind that cannot even die.
		if !boxed || time.Since(begin) > runtimeEnds {
			left = append(left, adopted...)
		}
		process.Kill(syscall.SIGKILL, left...)
		time.Sleep(2 * time.Millisecond)
	}
}

// runtimeEnds is how long a container runtime may take to put things away.
const runtimeEnds = 5 * time.Second

// adopted are processes that came to us when their host was killed.
func (n *node) adopted() []int {
	n.e.mu.Lock()
	defer n.e.mu.Unlock()
	hosts := map[int]bool{}
	for _, other := range n.e.nodes {
		other.mu.Lock()
		if other.host != nil {
			hosts[other.host.Pid] = true
		}
		other.mu.Unlock()
	}
	var all []int
	for _, pid := range process.Children(os.Getpid()) {
		if st, err := process.ReadStat(pid); err == nil && !st.Ended() && !hosts[pid] {
			all = append(append(all, pid), process.Descendants(pid)...)
		}
	}
	return all
}
