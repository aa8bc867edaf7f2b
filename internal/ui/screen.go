package ui

import (
	"errors"
	"io"
	"os"
	"time"
)

// A Stream is one of the two outputs that a process has.
type Stream int

// The streams.
const (
	Out Stream = iota
	Err
)

// ErrStuck says that a reader took nothing for longer than the screen's patience.
var ErrStuck = errors.New("the reader of the output has stopped reading")

// ErrAbandoned says that the screen was abandoned while output was left.
var ErrAbandoned = errors.New("output was abandoned")

// A Config says where a Screen writes.
type Config struct {
	// Out and Err are the same value if they lead to the same place; lines to
	// both then stay in order.
	Out, Err           io.Writer
	OutStyle, ErrStyle Style
	// Size is asked before each redraw of the status lines, on Err. Without it
	// there are none.
	Size func() (width, height int)
	// Patience is how long one write may take before the stream counts as
	// broken; 0 is for ever, as for any program in a pipeline.
	Patience time.Duration
}

// A Screen writes whole lines to stdout and stderr and keeps status lines
// below them. All methods are safe for concurrent use.
//
// Lines are written soon, and together where many come at once. Print waits
// when the reader is slow. A stream that breaks (its reader has gone) returns
// its error once, from whichever call comes next; then its lines are dropped
// and nothing waits for it.
type Screen struct {
	config   Config
	out, err *sink // one sink if they lead to the same place
}

// Open returns a screen on the process's own outputs. The caller ignores
// SIGPIPE, or a reader that goes away ends the process.
func Open(stdout, stderr *os.File, env func(string) string, patience time.Duration) *Screen {
	c := Config{
		Out: stdout, Err: stderr,
		OutStyle: Detect(stdout, env), ErrStyle: Detect(stderr, env),
		Patience: patience,
	}
	same, apart := relation(stdout, stderr)
	if same {
		c.Err = c.Out
	}
	if c.ErrStyle.Terminal && (same || apart) {
		c.Size = func() (int, int) { return sizeNow(stderr, c.ErrStyle) }
	}
	return NewScreen(c)
}

// relation says whether both lead to the same place, or surely not to the same
// terminal. A pipe may well end on it (muster run | tee log): then neither
// holds, and status lines would be torn by what the other end writes.
func relation(stdout, stderr *os.File) (same, apart bool) {
	o, err := stdout.Stat()
	if err != nil { // closed by the caller: nothing will come out of it
		return false, true
	}
	e, err := stderr.Stat()
	if err != nil {
		return false, true
	}
	if os.SameFile(o, e) {
		return true, false
	}
	if _, _, tty := size(stdout); tty {
		return false, false
	}
	return false, o.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0
}

// sizeNow falls back to the size at the start when the terminal has gone or
// does not know.
func sizeNow(f *os.File, start Style) (width, height int) {
	w, h, _ := size(f)
	if w <= 0 || h <= 0 {
		return start.Width, start.Height
	}
	return w, h
}

// NewScreen returns a screen; Close it to write the rest.
func NewScreen(c Config) *Screen {
	s := newScreen(c)
	s.start()
	return s
}

func newScreen(c Config) *Screen {
	var b *block
	if c.Size != nil {
		b = &block{style: c.ErrStyle, size: c.Size}
	}
	s := &Screen{config: c, err: newSink(c.Err, b, c.Patience)}
	s.out = s.err
	if c.Out != c.Err {
		s.out = newSink(c.Out, nil, c.Patience)
	}
	return s
}

func (s *Screen) start() {
	for _, k := range s.sinks() {
		go k.loop()
	}
}

func (s *Screen) sinks() []*sink {
	if s.out == s.err {
		return []*sink{s.err}
	}
	return []*sink{s.out, s.err}
}

func (s *Screen) sink(to Stream) *sink {
	if to == Err {
		return s.err
	}
	return s.out
}

// Style returns what the stream's reader can be shown.
func (s *Screen) Style(to Stream) Style {
	if to == Err {
		return s.config.ErrStyle
	}
	return s.config.OutStyle
}

// Live reports whether status lines are shown.
func (s *Screen) Live() bool { return s.err.block != nil }

// Broken is why a stream has broken, nil while it has not.
func (s *Screen) Broken(to Stream) error {
	k := s.sink(to)
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// Gone is closed when the stream has broken.
func (s *Screen) Gone(to Stream) <-chan struct{} { return s.sink(to).gone }

// Print writes prefix and line as one line, as they are: what a task wrote
// goes through Clean first.
func (s *Screen) Print(to Stream, prefix string, line []byte) error {
	return s.sink(to).add(prefix, line)
}

// Status replaces the status lines. They are cleaned, cut to the terminal and
// redrawn at most ten times a second.
func (s *Screen) Status(lines []string) {
	s.err.redraw(func(b *block) { b.set(lines) })
}

// Clear removes the status lines and returns once they are gone.
func (s *Screen) Clear() error {
	s.Status(nil)
	return s.err.flush()
}

// Resume draws the status lines anew below whatever another program wrote
// while this one was suspended.
func (s *Screen) Resume() {
	s.err.redraw(func(b *block) { b.drawn = nil })
}

// Flush returns once everything printed before is written.
func (s *Screen) Flush() error {
	return s.each((*sink).flush)
}

// Close removes the status lines and writes the rest; what comes later is dropped.
func (s *Screen) Close() error {
	return s.each((*sink).close)
}

// Abandon gives up what is not written: every call that waits returns, with
// ErrAbandoned from one of them.
func (s *Screen) Abandon() {
	for _, k := range s.sinks() {
		k.fail(ErrAbandoned)
	}
}

func (s *Screen) each(do func(*sink) error) error {
	var errs []error
	for _, k := range s.sinks() {
		errs = append(errs, do(k))
	}
	return errors.Join(errs...)
}
