package ui

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A gate is a reader that takes nothing until it is opened.
type gate struct {
	entered chan struct{} // a write has come
	open    chan struct{}
	got     bytes.Buffer
	writes  int
}

func newGate() *gate {
	return &gate{entered: make(chan struct{}, 1000), open: make(chan struct{})}
}

func (g *gate) Write(p []byte) (int, error) {
	g.entered <- struct{}{}
	<-g.open
	g.writes++
	return g.got.Write(p)
}

func TestManyLinesInOneWrite(t *testing.T) {
	g := newGate()
	s := NewScreen(Config{Out: g, Err: io.Discard})
	must(t, s.Print(Out, "", []byte("first")))
	<-g.entered
	for range 1000 {
		must(t, s.Print(Out, "x | ", []byte("line")))
	}
	close(g.open)
	must(t, s.Close())
	if g.writes != 2 {
		t.Errorf("%d writes, want one for the first line and one for the rest", g.writes)
	}
	if want := "first\n" + strings.Repeat("x | line\n", 1000); g.got.String() != want {
		t.Error("lines were lost or torn")
	}
}

func TestSlowReaderLosesNothing(t *testing.T) {
	g := newGate()
	s := NewScreen(Config{Out: g, Err: io.Discard})
	line := bytes.Repeat([]byte("x"), 10_000)
	const lines = 3 * full / 10_000
	printed := make(chan error)
	go func() {
		for range lines {
			if err := s.Print(Out, "", line); err != nil {
				printed <- err
				return
			}
		}
		printed <- s.Flush()
	}()
	for gathered(s.out) < full {
		runtime.Gosched()
	}
	if got := gathered(s.out); got > full+len(line) {
		t.Errorf("%d bytes were gathered for a reader that reads nothing", got)
	}
	close(g.open)
	must(t, <-printed)
	if got := g.got.Len(); got != lines*10_001 {
		t.Errorf("%d bytes arrived, want %d", got, lines*10_001)
	}
}

// Between two redraws lines may gather, but not until nothing fits any more.
func TestPlentyIsWrittenBetweenRedraws(t *testing.T) {
	e := newEmulator(60, 10)
	s := on(t, e, false)
	const lines = 2 * full / 100
	must(t, s.Print(Out, "", []byte("written at once")))
	must(t, s.Flush())
	must(t, s.Print(Out, "", []byte("gathered")))
	for len(s.err.wake) > 0 { // until the writer has seen that it need not hurry
		runtime.Gosched()
	}
	for range lines - 2 {
		must(t, s.Print(Out, "", bytes.Repeat([]byte("x"), 100)))
	}
	must(t, s.Close())
	if got := strings.Count(e.text(), "\n"); got != lines {
		t.Errorf("%d lines, want %d", got, lines)
	}
}

func gathered(s *sink) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.buf)
}

func TestAbandonFreesThoseWhoWait(t *testing.T) {
	g := newGate()
	s := NewScreen(Config{Out: g, Err: g, Size: tty.fixed, ErrStyle: tty})
	done := make(chan error)
	go func() {
		for {
			if err := s.Print(Out, "", make([]byte, 10_000)); err != nil {
				done <- err
				return
			}
		}
	}()
	<-g.entered
	s.Abandon()
	if err := <-done; !errors.Is(err, ErrAbandoned) {
		t.Errorf("got %v, want ErrAbandoned", err)
	}
	s.Status([]string{"dropped"})
	must(t, s.Print(Out, "", []byte("dropped")))
	must(t, s.Clear())
	must(t, s.Close())
	close(g.open)
}

func (s Style) fixed() (int, int) { return s.Width, s.Height }

func TestPatienceEnds(t *testing.T) {
	g := newGate()
	defer close(g.open)
	s := NewScreen(Config{Out: g, Err: io.Discard, Patience: time.Millisecond})
	must(t, s.Print(Out, "", []byte("nobody reads this")))
	if err := s.Flush(); !errors.Is(err, ErrStuck) {
		t.Errorf("got %v, want ErrStuck", err)
	}
	must(t, s.Close())
}

// A shy writer takes three bytes of every second write and would block in the others.
type shy struct {
	asked int
	got   bytes.Buffer
}

func (w *shy) Write(p []byte) (int, error) {
	if w.asked++; w.asked%2 == 1 {
		return 0, syscall.EAGAIN
	}
	n, _ := w.got.Write(p[:min(3, len(p))])
	if n < len(p) {
		return n, syscall.EAGAIN
	}
	return n, nil
}

func TestNonBlockingTerminal(t *testing.T) {
	w := &shy{}
	s := newScreen(Config{Out: w, Err: w})
	s.err.after = func(time.Duration) <-chan time.Time {
		c := make(chan time.Time)
		close(c)
		return c
	}
	s.start()
	must(t, s.Print(Out, "", []byte("all of this arrives")))
	must(t, s.Close())
	if got := w.got.String(); got != "all of this arrives\n" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkPrint(b *testing.B) {
	s := NewScreen(Config{Out: io.Discard, Err: io.Discard})
	line := []byte("epoch 3 step 1840 loss 2.31 accuracy 0.9552 images/s 12345.6")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		s.Print(Out, "worker-0    | ", line)
	}
	s.Close()
}
