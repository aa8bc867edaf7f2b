package ui

import (
	"bytes"
	"time"
	"unicode/utf8"
)

const (
	maxLine       = 64 << 10
	progressEvery = time.Second
)

// Lines gathers one stream of one task into lines to show. A newline, with or
// without a carriage return before it, ends a line. A carriage return alone
// ends a state of a progress bar: the first is shown, then at most one a
// second, and always the last before a newline or Flush; blank states only
// clear the bar and are not shown. A line over 64 KiB is shown in pieces.
// How the bytes were split over writes makes no difference.
type Lines struct {
	// Now is the clock for progress bars.
	Now func() time.Time

	emit  func(line []byte, partial bool)
	buf   []byte    // the line so far
	held  []byte    // a state of a progress bar that was not shown
	cr    bool      // buf was ended by a carriage return, unless a newline follows
	begun bool      // part of this line was shown
	shown time.Time // when a state was last shown
}

// NewLines returns a Lines that calls emit with each line, without its end and
// not cleaned. Partial says that no newline ended it. The bytes are emit's
// only during the call.
func NewLines(emit func(line []byte, partial bool)) *Lines {
	return &Lines{Now: time.Now, emit: emit}
}

// Write never returns an error.
func (l *Lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.states(p)
			break
		}
		l.states(p[:end])
		l.newline()
		p = p[end+1:]
	}
	return n, nil
}

// Flush shows what is left when no newline will come.
func (l *Lines) Flush() {
	last := l.buf
	if blank(last) && l.held != nil {
		last = l.held
	}
	if len(last) > 0 {
		l.emit(last, true)
	}
	l.restart()
}

// states takes text that may hold carriage returns, but no newline.
func (l *Lines) states(p []byte) {
	for len(p) > 0 {
		if l.cr {
			l.state()
		}
		end := bytes.IndexByte(p, '\r')
		if end < 0 {
			l.text(p)
			return
		}
		l.text(p[:end])
		l.cr = true
		p = p[end+1:]
	}
}

func (l *Lines) text(p []byte) {
	for len(l.buf)+len(p) > maxLine {
		n := maxLine - len(l.buf)
		l.buf = append(l.buf, p[:n]...)
		p = p[n:]
		l.piece()
	}
	l.buf = append(l.buf, p...)
}

// piece shows a full buffer, but for a character that is not complete.
func (l *Lines) piece() {
	cut := len(l.buf)
	for i := cut - 1; i >= cut-utf8.UTFMax; i-- {
		if utf8.RuneStart(l.buf[i]) {
			if !utf8.FullRune(l.buf[i:]) {
				cut = i
			}
			break
		}
	}
	l.emit(l.buf[:cut], true)
	l.begun = true
	l.buf = append(l.buf[:0], l.buf[cut:]...)
}

// state shows or holds back a state of a progress bar.
func (l *Lines) state() {
	l.cr = false
	defer func() { l.buf = l.buf[:0] }()
	if blank(l.buf) {
		return
	}
	now := l.Now()
	if since := now.Sub(l.shown); !l.shown.IsZero() && since >= 0 && since < progressEvery {
		l.held = append(l.held[:0], l.buf...)
		return
	}
	l.emit(l.buf, true)
	l.held, l.begun, l.shown = nil, true, now
}

func (l *Lines) newline() {
	switch {
	case !blank(l.buf):
		l.emit(l.buf, false)
	case l.held != nil:
		l.emit(l.held, false)
	case !l.begun:
		l.emit(l.buf, false)
	}
	l.restart()
}

func (l *Lines) restart() {
	l.buf, l.held, l.cr, l.begun = l.buf[:0], nil, false, false
}

// blank reports whether line shows nothing once control sequences are gone.
func blank(line []byte) bool {
	if len(line) > 0 && line[0] > ' ' && line[0] < 0x7f {
		return false
	}
	return len(bytes.TrimSpace(Clean(line, false))) == 0
}
