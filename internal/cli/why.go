package cli

import (
	"bytes"
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/report"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

func newWhyCommand(a *app) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "why [RUN]", Short: "Explain how a run or group ended, what it waits for, or why it may be stuck", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			svc, runs, err := a.findAll(c.Context(), args)
			if err != nil {
				return err
			}
			r := runs[0]
			if isGroup(runs, args) {
				g := explainGroup(c.Context(), svc, runs)
				if format != "" {
					return a.print(format, g, g.Group)
				}
				a.drawGroup(g)
				return nil
			}
			rep := explain(c.Context(), svc, r)
			if format != "" {
				return a.print(format, rep, r.ID)
			}
			a.drawReport(a.stdout, rep)
			return nil
		},
	}
	formatFlag(c, &format, "json|yaml|name")
	return c
}

// lastLines is how many lines of a task's end a report shows: with the rest it
// fits 24 rows.
const lastLines = 8

// explain makes the report of a run, with the last lines of the task it is
// about and what was kept of it.
func explain(ctx context.Context, svc run.Service, r run.Run) report.Report {
	rep := report.Of(r, ending(lastOf(ctx, svc, r)), time.Now())
	if r.Phase == run.Pending {
		if active, err := svc.List(ctx, run.Query{Active: true}); err == nil {
			rep.Queue(r, active.Runs, time.Now())
		}
	}
	if lines := outputs(r); lines != nil {
		rep.Facts = append(rep.Facts, report.Fact{Label: "outputs", Lines: lines})
	}
	return rep
}

// lastOf returns the last lines of the task that a report is about. Without
// them a report is still a report.
func lastOf(ctx context.Context, svc run.Service, r run.Run) (last []report.Line) {
	i, ok := report.Suspect(r)
	if !ok {
		return nil
	}
	q := run.LogQuery{Tasks: []string{i.Task.String()}, Attempt: i.Attempt, Tail: lastLines}
	_ = svc.Logs(ctx, r.ID, q, func(c run.LogChunk) error {
		for line := range bytes.Lines(c.Data) {
			if text := lastState(line); c.Instance == i && text != "" {
				last = append(last, report.Line{Stream: c.Stream, Text: text})
			}
		}
		return nil
	})
	return last
}

// lastState is what a terminal would show of a line in the end: of a progress
// bar, its last state.
func lastState(line []byte) string {
	text := ""
	for state := range bytes.SplitSeq(bytes.TrimRight(line, "\r\n"), []byte("\r")) {
		if shown := string(ui.Clean(state, false)); strings.TrimSpace(shown) != "" {
			text = shown
		}
	}
	return text
}

// ending is the end of a task's output: of its stderr if it wrote any, for that
// is where programs say why.
func ending(lines []report.Line) []report.Line {
	var errs []report.Line
	for _, l := range lines {
		if l.Stream == engine.Stderr {
			errs = append(errs, l)
		}
	}
	if len(errs) > 0 {
		lines = errs
	}
	return lines[max(0, len(lines)-lastLines):]
}

// printReport shows how a run ended, on stderr.
func (a *app) printReport(svc run.Service, r run.Run) {
	a.drawReport(a.stderr, explain(context.Background(), svc, r))
}

// outputs says what an ended run has kept in its output directory. One that
// has kept nothing is worth a word only if it succeeded.
func outputs(r run.Run) []string {
	if !r.Done() {
		return nil
	}
	dir := filepath.Join(r.Origin.RunDir, "outputs")
	var files []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if st, err := d.Info(); err == nil {
				name, _ := filepath.Rel(dir, path)
				files = append(files, cleanName(name)+" "+ui.Bytes(st.Size()))
			}
		}
		return nil
	})
	list := ui.Names(files, 3)
	if list == "" && r.Phase != run.Succeeded {
		return nil
	}
	if list == "" {
		list = "empty"
	}
	if ui.Width(dir)+ui.Width(list) > columns-indent-gap {
		return []string{dir, list}
	}
	return []string{dir + strings.Repeat(" ", gap) + list}
}
