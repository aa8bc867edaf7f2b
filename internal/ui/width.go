package ui

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Width returns the cells that text takes on a terminal. Colour sequences and
// combining characters take none, wide characters two.
func Width(text string) int {
	cells := 0
	for len(text) > 0 {
		n, w := glyph(text)
		cells += w
		text = text[n:]
	}
	return cells
}

// Cut returns text in at most width cells, with tail (in its place) where it
// was too long and colours closed.
func Cut(text string, width int, tail string) string {
	if Width(text) <= width {
		return text
	}
	if Width(tail) > width {
		tail = ""
	}
	room, end, open := width-Width(tail), 0, false
	for end < len(text) {
		n, w := glyph(text[end:])
		if w > room {
			break
		}
		if text[end] == esc && n > 1 {
			open = !closes(text[end+2 : end+n-1])
		}
		room -= w
		end += n
	}
	cut := text[:end] + tail
	if open {
		cut += reset
	}
	return cut
}

// Pad returns text filled with spaces to width cells.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-Width(text)))
}

// glyph returns the length in bytes and the cells of what text begins with.
func glyph(text string) (n, cells int) {
	if b := text[0]; b >= 0x20 && b < 0x7f {
		return 1, 1
	}
	if n := sgr(text); n > 0 {
		return n, 0
	}
	r, n := utf8.DecodeRuneInString(text)
	return n, runeWidth(r)
}

func runeWidth(r rune) int {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return 0
	case r < 0x300:
		return 1
	case r >= 0x1160 && r <= 0x11ff: // Hangul vowels and finals join the syllable before
		return 0
	case r == 0xfe0f: // makes an emoji of the sign before, which many terminals then widen
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case isWide(r):
		return 2
	}
	return 1
}

func isWide(r rune) bool {
	i := sort.Search(len(wide), func(i int) bool { return wide[i][1] >= r })
	return i < len(wide) && wide[i][0] <= r
}

// wide holds the characters that Unicode calls wide or full width, in order.
// Emoji blocks are taken whole: a cell too many counted does less harm than
// one too few, which would break a line in two.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0},
	{0x23f3, 0x23f3}, {0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x267f, 0x267f},
	{0x2693, 0x2693}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5},
	{0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f3}, {0x26f5, 0x26f5},
	{0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728},
	{0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
	{0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55},
	{0x2e80, 0x303e}, {0x3041, 0x4dbf}, {0x4e00, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3},
	{0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6},
	{0x16fe0, 0x18dff}, {0x1aff0, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
	{0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f1e6, 0x1f64f}, {0x1f680, 0x1f6ff},
	{0x1f7e0, 0x1f7f0}, {0x1f90c, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
}
