//go:build linux

package script

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A screen is as much of a terminal as Muster uses: it can go up and erase what
// is below. Anything else of control shows as it is, and so fails tests.
type screen struct {
	rows    [][]rune
	at, col int
	pending string   // a sequence that is not complete
	width   int      // of the terminal
	broken  []string // rows that were longer, and went on in the next
}

// behind is the second half of a wide character.
const behind = -1

func (s *screen) write(text string) {
	for text = s.pending + text; text != ""; {
		n := s.step(text)
		if n == 0 {
			break
		}
		text = text[n:]
	}
	s.pending = text
}

// step takes in what text begins with; 0 when that is not complete.
func (s *screen) step(text string) int {
	switch text[0] {
	case '\r':
		s.col = 0
		return 1
	case '\n':
		if s.at++; s.at == len(s.rows) {
			s.rows = append(s.rows, nil)
		}
		return 1
	case 0x1b:
		return s.control(text)
	}
	if !utf8.FullRuneInString(text) {
		return 0
	}
	r, n := utf8.DecodeRuneInString(text)
	s.put(r)
	return n
}

// put shows a character. A wide one takes two cells: such as tests use them.
func (s *screen) put(r rune) {
	cells := []rune{r}
	if r >= 0x4e00 && r <= 0x9fff || r >= 0xff01 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff {
		cells = append(cells, behind)
	}
	if s.col+len(cells) > s.width {
		s.broken = append(s.broken, rowText(s.rows[s.at]))
		s.rows = append(s.rows[:s.at+1], nil)
		s.at, s.col = s.at+1, 0
	}
	for len(s.rows[s.at]) < s.col+len(cells) {
		s.rows[s.at] = append(s.rows[s.at], ' ')
	}
	s.col += copy(s.rows[s.at][s.col:], cells)
}

func rowText(row []rune) string {
	row = slices.DeleteFunc(slices.Clone(row), func(r rune) bool { return r == behind })
	return strings.TrimRight(string(row), " ")
}

func (s *screen) control(text string) int {
	end := strings.IndexAny(text, "ABCDHJKm")
	if end < 0 || !strings.HasPrefix(text, "\x1b[") {
		return 0
	}
	n, _ := strconv.Atoi(text[2:end])
	switch text[end] {
	case 'A':
		s.at = max(0, s.at-max(n, 1))
	case 'J':
		s.rows = s.rows[:s.at+1]
		s.rows[s.at] = s.rows[s.at][:min(s.col, len(s.rows[s.at]))]
	}
	return end + 1
}

func (s *screen) text() string {
	lines := make([]string, len(s.rows))
	for i, r := range s.rows {
		lines[i] = rowText(r)
	}
	return strings.Join(lines, "\n")
}
