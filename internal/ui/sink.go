package ui

import (
	"errors"
	"io"
	"sync"
	"syscall"
	"time"
)

const (
	// full is how much a sink gathers before those who add must wait.
	full = 512 << 10
	// plenty is worth a write at once, however recent the last.
	plenty = 64 << 10
	// pace is the least time between two frames that draw the block.
	pace = 100 * time.Millisecond
	// again is the wait before a write that would have blocked is tried again.
	again = 10 * time.Millisecond
)

// A sink gathers lines and writes them from a goroutine of its own: what comes
// while a write is under way goes out in the next one, so that many lines cost
// one system call and a slow reader holds up only those who add.
type sink struct {
	w        io.Writer
	block    *block // nil where nothing is redrawn
	patience time.Duration
	after    func(time.Duration) <-chan time.Time

	wake  chan struct{}
	gone  chan struct{} // closed when broken
	frame []byte        // the write under way; only the goroutine uses it

	mu      sync.Mutex
	moved   sync.Cond // the state below has changed
	buf     []byte
	dirty   bool   // the block may need drawing
	changes uint64 // lines added and blocks changed so far
	framed  uint64 // of these, how many are in frame
	done    uint64 // of these, how many need nothing more
	flushes int    // callers that wait for done
	closed  bool
	err     error
	told    bool // err was returned to somebody
}

func newSink(w io.Writer, b *block, patience time.Duration) *sink {
	s := &sink{
		w: w, block: b, patience: patience, after: time.After,
		wake: make(chan struct{}, 1), gone: make(chan struct{}),
	}
	s.moved.L = &s.mu
	return s
}

// add gathers one line; it waits while the sink is full.
func (s *sink) add(prefix string, line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.buf) >= full && s.err == nil {
		s.moved.Wait()
	}
	if s.err != nil || s.closed {
		return s.tell()
	}
	s.changes++
	before := len(s.buf)
	s.buf = append(s.buf, prefix...)
	s.buf = append(s.buf, line...)
	s.buf = append(s.buf, '\n')
	if before == 0 || before < plenty && len(s.buf) >= plenty {
		s.poke()
	}
	return nil
}

// redraw changes the block.
func (s *sink) redraw(change func(*block)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.block == nil || s.closed || s.err != nil {
		return
	}
	change(s.block)
	s.changes++
	s.dirty = true
	s.poke()
}

// flush returns once everything added before is written, or cannot be.
func (s *sink) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flushes++
	s.poke()
	// Others may go on adding: wait only for what is there now.
	for goal := s.changes; s.err == nil && s.done < goal; {
		s.moved.Wait()
	}
	s.flushes--
	return s.tell()
}

// close drops what is added later, removes the block and flushes.
func (s *sink) close() error {
	s.redraw(func(b *block) { b.set(nil) })
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.flush()
}

// fail breaks the sink: nothing waits for it any more, the rest is dropped.
func (s *sink) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err, s.buf = err, nil
	close(s.gone)
	s.moved.Broadcast()
	s.poke()
}

// tell returns the error the first time only.
func (s *sink) tell() error {
	if s.told {
		return nil
	}
	s.told = s.err != nil
	return s.err
}

func (s *sink) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// loop writes until the sink is closed or broken.
func (s *sink) loop() {
	var rest <-chan time.Time
	for {
		ready, open := s.take(rest == nil)
		switch {
		case ready:
			s.write()
			if s.block != nil {
				rest = s.after(pace)
			}
		case !open:
			return
		default:
			select {
			case <-s.wake:
			case <-rest:
				rest = nil
			}
		}
	}
}

// take makes the next frame, if there is something to write and no reason to
// let more of it gather.
func (s *sink) take(rested bool) (ready, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return false, false
	}
	if s.dirty && len(s.buf) == 0 && !s.block.stale() {
		s.dirty, s.done = false, s.changes
		s.moved.Broadcast()
	}
	if len(s.buf) == 0 && !s.dirty {
		return false, !s.closed
	}
	if !rested && !s.closed && s.flushes == 0 && len(s.buf) < plenty {
		return false, true
	}
	if s.block != nil {
		s.frame = s.block.frame(s.frame[:0], s.buf)
	} else {
		s.frame = append(s.frame[:0], s.buf...)
	}
	s.buf, s.dirty, s.framed = s.buf[:0], false, s.changes
	s.moved.Broadcast()
	return true, true
}

// write writes the frame. It does so in parts, so that a slow reader that
// still reads is not taken for one that has stopped.
func (s *sink) write() {
	for rest := s.frame; len(rest) > 0 && !s.broken(); {
		n, err := s.part(rest[:min(len(rest), plenty)])
		rest = rest[n:]
		if err != nil && !errors.Is(err, syscall.EAGAIN) {
			s.fail(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = s.framed
	s.moved.Broadcast()
}

// part writes some of p, within the sink's patience. Another program on the
// same terminal may have made it non-blocking: then part asks again and again.
func (s *sink) part(p []byte) (int, error) {
	if s.patience > 0 {
		t := time.AfterFunc(s.patience, func() { s.fail(ErrStuck) })
		defer t.Stop()
	}
	for {
		n, err := s.w.Write(p)
		if n > 0 || !errors.Is(err, syscall.EAGAIN) || s.broken() {
			return n, err
		}
		<-s.after(again)
	}
}

func (s *sink) broken() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}
