// Package ui shows text on terminals and pipes: what a task printed, made
// harmless; status lines redrawn in place; tables, marks and durations.
package ui

import (
	"hash/fnv"
	"os"
	"strconv"
	"strings"
)

// A Style is what the reader of a stream can be shown.
type Style struct {
	Colour   bool
	Unicode  bool // marks and ellipses beyond ASCII
	Terminal bool // lines can be redrawn in place
	Width    int  // in cells; 0 when there is no terminal
	Height   int
}

// Detect returns the style for f. A terminal that names no type, or the type
// dumb, cannot move its cursor and is treated as a pipe.
func Detect(f *os.File, env func(string) string) Style {
	width, height, ok := size(f)
	if !ok {
		return Style{}
	}
	return terminal(width, height, env)
}

// terminal is the style for a terminal of this size in this environment.
func terminal(width, height int, env func(string) string) Style {
	if t := env("TERM"); t == "" || t == "dumb" {
		return Style{}
	}
	plain := env("NO_COLOR") != ""
	// Serial lines and some CI systems have a terminal without a size.
	if width <= 0 {
		width = 80
	}
	if height <= 0 {
		height = 24
	}
	return Style{Colour: !plain, Unicode: !plain && utf8Locale(env), Terminal: true, Width: width, Height: height}
}

// utf8Locale follows the order in which a C library looks for the character set.
func utf8Locale(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(env(name)); v != "" {
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return false
}

// A Mark opens a line that judges something.
type Mark int

// The marks.
const (
	OK Mark = iota
	Failed
	Warning
	Waiting
)

// Mark returns m as a coloured sign, or as a word where signs do not show.
func (s Style) Mark(m Mark) string {
	sign, word, paint := "✓", "ok", s.Green
	switch m {
	case Failed:
		sign, word, paint = "✗", "FAIL", s.Red
	case Warning:
		sign, word, paint = "!", "warn", s.Yellow
	case Waiting:
		sign, word, paint = "…", "wait", s.Dim
	}
	if s.Unicode {
		return paint(sign)
	}
	return paint(word)
}

// Ellipsis says that something was cut off.
func (s Style) Ellipsis() string {
	if s.Unicode {
		return "…"
	}
	return "..."
}

// Separator stands between two suggestions on one line.
func (s Style) Separator() string {
	if s.Unicode {
		return "  ·  "
	}
	return "  |  "
}

// Green is for what went well.
func (s Style) Green(text string) string { return s.paint("32", text) }

// Red is for what failed.
func (s Style) Red(text string) string { return s.paint("31", text) }

// Yellow is for what may need attention.
func (s Style) Yellow(text string) string { return s.paint("33", text) }

// Dim is for consequences and hints.
func (s Style) Dim(text string) string { return s.paint("2", text) }

// Bold is for what the eye should find first.
func (s Style) Bold(text string) string { return s.paint("1", text) }

// taskColours leaves out red, yellow and green, which judge.
var taskColours = []string{"36", "35", "34", "96", "95", "94"}

// Task paints text in the colour of the task called name: the same in every
// run, and different for neighbours of one role.
func (s Style) Task(name, text string) string {
	role := strings.TrimRight(name, "0123456789")
	h := fnv.New32a()
	h.Write([]byte(role))
	// A name without a number counts as number 0.
	index, _ := strconv.ParseUint(name[len(role):], 10, 32)
	at := (uint64(h.Sum32()) + index) % uint64(len(taskColours))
	return s.paint(taskColours[at], text)
}

func (s Style) paint(code, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + reset
}
