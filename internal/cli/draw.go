package cli

import (
	"fmt"
	"os"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/report"
	"muster.dev/muster/internal/ui"
)

// drawReport draws a report: a mark and a headline, labelled facts, next steps.
func (a *app) drawReport(f *os.File, rep report.Report) {
	st := ui.Detect(f, a.env)
	mark := map[report.Tone]ui.Mark{report.Good: ui.OK, report.Bad: ui.Failed, report.Watch: ui.Warning, report.Waiting: ui.Waiting}[rep.Tone]
	var b strings.Builder
	for _, line := range fitted(st, st.Mark(mark)+" "+clean(rep.Headline)) {
		b.WriteString(line + "\n")
	}
	if len(rep.Facts) > 0 && rep.Tone == report.Bad {
		b.WriteString("\n")
	}
	for _, fact := range rep.Facts {
		drawFact(&b, st, fact)
	}
	drawNext(&b, st, rep)
	_, _ = f.WriteString(b.String())
}

// A report has at most so many columns, of which labels take the first ones.
const (
	columns = 100
	indent  = 12
	gap     = 3 // between two things on one line
)

func drawFact(b *strings.Builder, st ui.Style, fact report.Fact) {
	label := fact.Label
	for n, line := range fact.Lines {
		if fact.Task != "" {
			to := ui.Out
			if fact.Streams[n] == engine.Stderr {
				to = ui.Err
			}
			line = ui.NewPrefixes(st, []string{fact.Task}).Of(fact.Task, to) + line
			if st.Terminal { // a line that wraps would hide the others
				line = ui.Cut(line, st.Width-indent-1, st.Ellipsis())
			}
			fmt.Fprintf(b, "  %-9s %s\n", label, line)
			label = ""
			continue
		}
		for _, part := range wrap(clean(line), room(st)-indent) {
			fmt.Fprintf(b, "  %-9s %s\n", label, part)
			label = ""
		}
	}
}

func drawNext(b *strings.Builder, st ui.Style, rep report.Report) {
	if len(rep.Next) == 0 {
		return
	}
	width := 0
	var commands []string
	for _, s := range rep.Next {
		width = max(width, ui.Width(s.Command))
		commands = append(commands, s.Command)
	}
	if rep.Tone == report.Bad {
		b.WriteString("\n")
		for _, s := range rep.Next {
			line := "  " + ui.Pad(s.Command, width) + strings.Repeat(" ", gap)
			if ui.Width(line)+ui.Width(s.Why) > room(st) {
				line, s.Why = strings.TrimRight(line, " "), ""
			}
			fmt.Fprintln(b, line+st.Dim(s.Why))
		}
		return
	}
	lines := []string{strings.Join(commands, st.Separator())}
	if indent+ui.Width(lines[0]) > room(st) {
		lines = commands
	}
	label := "next"
	for _, line := range lines {
		fmt.Fprintf(b, "  %-9s %s\n", label, st.Dim(line))
		label = ""
	}
}

// room is how wide a line of ours may be.
func room(st ui.Style) int {
	if st.Terminal {
		return max(indent+10, min(columns, st.Width))
	}
	return columns
}

// fitted breaks a line of ours where a small terminal would break it in the
// middle of a word.
func fitted(st ui.Style, line string) []string {
	if !st.Terminal || ui.Width(line) <= st.Width {
		return []string{line}
	}
	const margin = "  "
	lines := wrap(line, max(10, st.Width-len(margin)))
	for i := range lines[1:] {
		lines[i+1] = margin + lines[i+1]
	}
	return lines
}

// printFitted prints a line of ours on stderr.
func printFitted(screen *ui.Screen, line string) {
	for _, part := range fitted(screen.Style(ui.Err), clean(line)) {
		_ = screen.Print(ui.Err, "", []byte(part)) // a reader that has gone ends nothing
	}
}

// wrap breaks text at spaces so that no line is wider than width, unless a word
// is. Wider gaps within a line stay.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Split(text, " ") {
		if line != "" && ui.Width(line)+1+ui.Width(word) > width {
			lines, line = append(lines, strings.TrimRight(line, " ")), ""
		}
		if line != "" {
			word = " " + word
		}
		line += word
	}
	return append(lines, strings.TrimRight(line, " "))
}
