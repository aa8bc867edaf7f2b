package ui

import (
	"fmt"
	"slices"
	"strings"
)

// A block is the status lines at the bottom of a terminal. It knows what is on
// the terminal now and what should be, and writes the difference into frames.
type block struct {
	style Style
	size  func() (width, height int)

	lines  []string // wanted
	drawn  []string // on the terminal, as drawn
	across int      // the terminal's size when they were drawn
	down   int
}

// set replaces the wanted lines.
func (b *block) set(lines []string) {
	b.lines = b.lines[:0]
	for _, l := range lines {
		b.lines = append(b.lines, b.style.oneLine(l))
	}
}

// stale reports whether drawing anew would change the terminal.
func (b *block) stale() bool {
	if len(b.lines) == 0 && len(b.drawn) == 0 {
		return false
	}
	w, h := b.size()
	return w != b.across || h != b.down || !slices.Equal(b.fit(w, h), b.drawn)
}

// frame appends to dst what removes the block, then text (whole lines), then
// what draws the block again.
func (b *block) frame(dst, text []byte) []byte {
	w, h := b.size()
	if rows := b.rows(w, h); rows > 0 {
		dst = fmt.Appendf(dst, "\r\x1b[%dA\x1b[J", rows)
	}
	dst = append(dst, text...)
	b.drawn, b.across, b.down = b.fit(w, h), w, h
	for _, l := range b.drawn {
		dst = append(append(dst, l...), '\n')
	}
	return dst
}

// fit cuts the wanted lines to a terminal of this size. The last column stays
// free, because terminals differ in what they do after filling it.
func (b *block) fit(width, height int) []string {
	room := max(1, height-2)
	shown := slices.Clone(b.lines)
	if over := len(shown) - room; over > 0 {
		shown = append(shown[:room-1], fmt.Sprintf("%s %d more", b.style.Ellipsis(), over+1))
	}
	for i, l := range shown {
		shown[i] = Cut(strings.TrimRight(l, " "), max(1, width-1), b.style.Ellipsis())
	}
	return shown
}

// rows counts the rows that the drawn block takes now: a terminal that was
// made narrower has wrapped its lines. What has left the screen is out of reach.
func (b *block) rows(width, height int) int {
	rows := 0
	for _, l := range b.drawn {
		rows += max(1, (Width(l)+width-1)/max(1, width))
	}
	return min(rows, max(1, height-1))
}
