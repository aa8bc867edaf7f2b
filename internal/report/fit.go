package report

import (
	"strings"

	"muster.dev/muster/internal/ui"
)

// A verdict is to fit a small terminal of 24 rows, with room for what the
// command line adds to it. Facts are drawn this wide, behind their labels.
const (
	maxRows   = 22
	factWidth = 88
	fewest    = 3 // lines of a task's output that are worth it in any case
)

// fit leaves out the oldest lines of a task's output until the report is short
// enough.
func fit(rep Report) Report {
	for n, f := range rep.Facts {
		if f.Task == "" {
			continue
		}
		over := max(0, min(rows(rep)-maxRows, len(f.Lines)-fewest))
		rep.Facts[n].Lines, rep.Facts[n].Streams = f.Lines[over:], f.Streams[over:]
	}
	return rep
}

// rows is how many a report takes.
func rows(rep Report) int {
	n := wrapped(rep.Headline, factWidth)
	for _, f := range rep.Facts {
		for _, line := range f.Lines {
			if f.Task != "" {
				n++ // cut, not wrapped
				continue
			}
			n += wrapped(line, factWidth)
		}
	}
	if rep.Tone == Bad {
		return n + 2 + len(rep.Next)
	}
	return n + 1
}

// wrapped is in how many rows a text is shown, words kept whole.
func wrapped(text string, width int) int {
	n, used := 1, 0
	for _, word := range strings.Split(text, " ") {
		w := ui.Width(word)
		if used > 0 && used+1+w > width {
			n, used = n+1, 0
		}
		used += 1 + w
	}
	return n
}

// brief is a text of which nobody reads more than a few rows: what a program
// raised may be as long as it likes.
func brief(text string) string {
	return ui.Cut(strings.Join(strings.Fields(text), " "), 2*factWidth, "...")
}
