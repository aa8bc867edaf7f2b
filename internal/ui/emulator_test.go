package ui

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// An emulator is as much of a terminal as a Screen uses: lines that wrap,
// cursor up within the window, erase below. What scrolls out stays readable.
type emulator struct {
	mu            sync.Mutex
	width, height int
	rows          []row
	at, col       int
	writes        int
}

// A row is its cells; a wide character leaves the second empty. A row that
// goes on continues in the next one.
type row struct {
	cells  []string
	goesOn bool
}

func newEmulator(width, height int) *emulator {
	return &emulator{width: width, height: height, rows: make([]row, 1)}
}

func (e *emulator) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writes++
	for b := string(p); b != ""; {
		b = b[e.step(b):]
	}
	return len(p), nil
}

func (e *emulator) step(b string) int {
	switch {
	case b[0] == '\r':
		e.col = 0
		return 1
	case b[0] == '\n': // the terminal driver adds the carriage return
		e.down(false)
		return 1
	case b[0] == esc:
		return e.control(b)
	}
	n, w := glyph(b)
	if e.col+w > e.width {
		e.down(true)
	}
	e.put(b[:n], w)
	return n
}

func (e *emulator) put(text string, width int) {
	r := &e.rows[e.at]
	for len(r.cells) < e.col+width {
		r.cells = append(r.cells, "")
	}
	if width == 0 {
		r.cells[e.col-1] += text
		return
	}
	clear(r.cells[e.col : e.col+width])
	r.cells[e.col] = text
	e.col += width
}

func (e *emulator) down(wrap bool) {
	e.rows[e.at].goesOn = wrap
	e.at, e.col = e.at+1, 0
	if e.at == len(e.rows) {
		e.rows = append(e.rows, row{})
	}
}

func (e *emulator) control(b string) int {
	if n := sgr(b); n > 0 {
		return n
	}
	end := strings.IndexAny(b, "AJ")
	switch n, _ := strconv.Atoi(b[2:end]); b[end] {
	case 'A':
		top := max(0, len(e.rows)-e.height)
		e.at = max(top, e.at-n)
	case 'J':
		e.rows = slices.Delete(e.rows, e.at+1, len(e.rows))
		e.rows[e.at] = row{cells: e.rows[e.at].cells[:e.col]}
	}
	return end + 1
}

// resize wraps all lines anew, as most terminals do.
func (e *emulator) resize(width int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	lines := e.lines()
	e.width, e.rows, e.at, e.col = width, make([]row, 1), 0, 0
	for b := strings.Join(lines, "\n"); b != ""; {
		b = b[e.step(b):]
	}
}

func (e *emulator) size() (int, int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.width, e.height
}

// lines returns the text, rows that wrapped put together.
func (e *emulator) lines() []string {
	var all []string
	line := ""
	for _, r := range e.rows {
		line += strings.Join(r.cells, "")
		if !r.goesOn {
			all, line = append(all, line), ""
		}
	}
	return all
}

// text returns all lines; the last is the one with the cursor.
func (e *emulator) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.lines(), "\n")
}

func TestEmulator(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"lines", "a\nb\n", "a\nb\n"},
		{"wrapped", "abcdefghijklm\nx", "abcdefghijklm\nx"},
		{"erased", "a\nb\nc\n\r\x1b[2A\x1b[Jd\n", "a\nd\n"},
		{"overwritten", "abcd\n\r\x1b[1Axy\n", "xycd\n"},
		{"erased too little", "a\nb\nc\n\r\x1b[1A\x1b[Jd\n", "a\nb\nd\n"},
		{"a wrapped line erased by one row", "abcdefghijklm\n\r\x1b[1A\x1b[Jd\n", "abcdefghijd\n"},
		{"out of reach", "1\n2\n3\n4\n5\n\r\x1b[9A\x1b[Jx\n", "1\n2\nx\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEmulator(10, 4)
			e.Write([]byte(tt.in))
			if got := e.text(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
