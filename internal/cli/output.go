package cli

import (
	"slices"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// output shows what tasks write, line by line.
type output struct {
	screen   *ui.Screen
	prefixes [2]ui.Prefixes
	stamps   bool
	job      string // of a group, before the task's name
	sources  map[sourceKey]*source
}

type sourceKey struct {
	task   job.Task
	stream engine.Stream
}

// A source is one stream of one task on its way to the screen.
type source struct {
	lines  *ui.Lines
	to     ui.Stream
	prefix string
	time   time.Time
}

func newOutput(screen *ui.Screen, tasks []job.Task) *output {
	return newNamedOutput(screen, namesOf(tasks))
}

func newNamedOutput(screen *ui.Screen, names []string) *output {
	return &output{
		screen: screen, sources: map[sourceKey]*source{},
		prefixes: [2]ui.Prefixes{ui.NewPrefixes(screen.Style(ui.Out), names), ui.NewPrefixes(screen.Style(ui.Err), names)},
	}
}

// take shows one piece of output: what a task wrote to its stdout goes to ours,
// and its stderr to ours.
func (o *output) take(c run.LogChunk) error {
	s := o.source(c)
	select {
	case <-o.screen.Gone(s.to):
		return nil // a reader that has gone ends nothing, and needs no lines
	default:
	}
	s.time = c.Time
	_, err := s.lines.Write(c.Data)
	return err
}

func (o *output) source(c run.LogChunk) *source {
	k := sourceKey{c.Instance.Task, c.Stream}
	if s := o.sources[k]; s != nil {
		return s
	}
	to := ui.Out
	if c.Stream == engine.Stderr {
		to = ui.Err
	}
	colour := o.screen.Style(to).Colour
	s := &source{to: to, prefix: o.prefixes[to].Of(o.job+c.Instance.Task.String(), to)}
	s.lines = ui.NewLines(func(line []byte, _ bool) {
		prefix := s.prefix
		if o.stamps {
			prefix = stamp(s.time) + " " + prefix
		}
		_ = o.screen.Print(to, prefix, ui.Clean(line, colour))
	})
	o.sources[k] = s
	return s
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "            "
	}
	return ui.Stamp(t.Local())
}

// flush shows lines whose end will not come.
func (o *output) flush() {
	keys := make([]sourceKey, 0, len(o.sources))
	for k := range o.sources {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b sourceKey) int { return job.CompareTasks(a.task, b.task) })
	for _, k := range keys {
		o.sources[k].lines.Flush()
	}
}

func namesOf(tasks []job.Task) []string {
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = t.String()
	}
	return names
}
