//go:build linux

package script

import (
	"strconv"
	"strings"
)

// A screen is as much of a terminal as Muster uses: it can go up and erase what
// is below. Anything else of control shows as it is, and so fails tests.
type screen struct {
	rows    [][]rune
	at, col int
	pending string // a sequence that is not complete
}

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
	r, n := []rune(text)[0], 0
	n = len(string(r))
	for len(s.rows[s.at]) <= s.col {
		s.rows[s.at] = append(s.rows[s.at], ' ')
	}
	s.rows[s.at][s.col] = r
	s.col++
	return n
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
		lines[i] = strings.TrimRight(string(r), " ")
	}
	return strings.Join(lines, "\n")
}
