package ui

import "unicode/utf8"

const (
	esc   = 0x1b
	bel   = 0x07
	can   = 0x18 // abandons a sequence
	sub   = 0x1a // the same
	reset = "\x1b[0m"

	// maxSGR is longer than two 24-bit colours with attributes need.
	maxSGR = 64
)

// Clean makes one line of a task's output harmless to a terminal. With colour,
// colour sequences stay and are closed at the end; every other sequence and
// control character but tab goes. What could mislead a reader (C1 controls,
// bidirectional overrides, bytes that are no UTF-8) becomes U+FFFD. The result
// is line itself when there was nothing to do.
func Clean(line []byte, colour bool) []byte {
	i := harmless(line)
	if i == len(line) {
		return line
	}
	c := cleaner{colour: colour, out: append(make([]byte, 0, len(line)+len(reset)), line[:i]...)}
	for i < len(line) {
		i += c.next(line[i:])
	}
	if c.open {
		c.out = append(c.out, reset...)
	}
	return c.out
}

// harmless returns the length of the prefix that can stay as it is.
func harmless(b []byte) int {
	for i := 0; i < len(b); {
		if b[i] >= 0x20 && b[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if treat(r, n) != keep {
			return i
		}
		i += n
	}
	return len(b)
}

type treatment int

const (
	keep treatment = iota
	drop
	space
	replace
)

// treat says what becomes of r, which was decoded from n bytes.
func treat(r rune, n int) treatment {
	switch {
	case r == '\t':
		return keep
	case r == '\n', r == '\v', r == '\f':
		return space
	case r < 0x20, r == 0x7f:
		return drop
	case r == utf8.RuneError && n == 1:
		return replace
	case r >= 0x80 && r <= 0x9f: // C1: a terminal may take them for sequences
		return replace
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // bidirectional overrides
		return replace
	case r == 0x2028, r == 0x2029: // line ends to some readers
		return replace
	}
	return keep
}

type cleaner struct {
	out    []byte
	colour bool
	open   bool // a colour is on
}

// next treats what b begins with and returns its length.
func (c *cleaner) next(b []byte) int {
	if b[0] == esc {
		return c.escape(b)
	}
	r, n := utf8.DecodeRune(b)
	switch treat(r, n) {
	case keep:
		c.out = append(c.out, b[:n]...)
	case space:
		c.out = append(c.out, ' ')
	case replace:
		c.out = utf8.AppendRune(c.out, utf8.RuneError)
	}
	return n
}

func (c *cleaner) escape(b []byte) int {
	n := sgr(b)
	if n == 0 {
		return sequence(b)
	}
	if c.colour {
		c.out = append(c.out, b[:n]...)
		c.open = !closes(b[2 : n-1])
	}
	return n
}

// sgr returns the length of the colour sequence (ESC [ digits ; m) that b
// begins with, or 0.
func sgr[T string | []byte](b T) int {
	if len(b) < 3 || b[0] != esc || b[1] != '[' {
		return 0
	}
	for i := 2; i < len(b) && i < maxSGR; i++ {
		switch {
		case b[i] == 'm':
			return i + 1
		case b[i] != ';' && (b[i] < '0' || b[i] > '9'):
			return 0
		}
	}
	return 0
}

// closes reports whether a colour sequence with these parameters only resets.
func closes[T string | []byte](params T) bool {
	for i := range len(params) {
		if params[i] != '0' && params[i] != ';' {
			return false
		}
	}
	return true
}

// sequence returns the length of the control sequence that b, starting with
// ESC, begins with. A broken one ends before the first byte that cannot
// belong to it, so that no text is hidden behind it.
func sequence(b []byte) int {
	if len(b) > 1 {
		switch b[1] {
		case '[':
			return final(b, span(b, 2, 0x20, 0x3f), 0x40)
		case ']', 'P', 'X', '^', '_':
			return controlString(b)
		}
	}
	return final(b, span(b, 1, 0x20, 0x2f), 0x30)
}

// span returns the index of the first byte from i on that is not in low..high.
func span(b []byte, i int, low, high byte) int {
	for i < len(b) && b[i] >= low && b[i] <= high {
		i++
	}
	return i
}

// final includes the byte at i if it can end a sequence.
func final(b []byte, i int, low byte) int {
	if i < len(b) && b[i] >= low && b[i] <= 0x7e {
		return i + 1
	}
	return i
}

// controlString returns the length of a string for the terminal (a title, a
// link, an image). One without an end loses only its introducer.
func controlString(b []byte) int {
	for i := 2; i < len(b); i++ {
		rest := b[i:]
		switch {
		case b[i] == bel, b[i] == can, b[i] == sub:
			return i + 1
		case b[i] == esc && len(rest) > 1 && rest[1] == '\\':
			return i + 2
		case b[i] == esc: // another sequence breaks the string off
			return i
		case b[i] == 0xc2 && len(rest) > 1 && rest[1] == 0x9c: // ST as a C1 control
			return i + 2
		}
	}
	return 2
}
