// Package report explains a run to a person: how it ended and which task is to
// blame, what it waits for, or why it may be stuck. It is pure; the command line
// draws it, and its JSON is what programs get.
package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// A Tone says how good the news is.
type Tone string

// The tones.
const (
	Good    Tone = "good"
	Bad     Tone = "bad"
	Watch   Tone = "watch"
	Waiting Tone = "waiting"
)

// A Report is an explanation: a headline, facts under it, and what to do next.
type Report struct {
	Run      string    `json:"run"`
	Phase    run.Phase `json:"phase"`
	Tone     Tone      `json:"tone"`
	Headline string    `json:"headline"`
	Facts    []Fact    `json:"facts,omitempty"`
	Next     []Step    `json:"next,omitempty"`

	First *run.Failure `json:"first,omitempty"`
	Exit  *run.Exit    `json:"exit,omitempty"`
}

// A Fact is a labelled line or several.
type Fact struct {
	Label string   `json:"label"`
	Lines []string `json:"lines"`
	// Task is set when the lines are that task's own output, to be shown as such.
	Task string `json:"task,omitempty"`
	// Streams has the stream of each such line.
	Streams []engine.Stream `json:"streams,omitempty"`
}

// A Step is a command worth typing.
type Step struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

// A Line is one line of a task's output.
type Line struct {
	Stream engine.Stream
	Text   string
}

// silence is how long nobody may write anything before a run counts as perhaps
// stuck, and missing how long tasks may take to join before they are named.
const (
	silence = 5 * time.Minute
	missing = 30 * time.Second
)

// Of explains a run. last are the last lines of the task that Suspect names.
func Of(r run.Run, last []Line, now time.Time) Report {
	rep := Report{Run: r.ID, Phase: r.Phase}
	switch {
	case r.Phase == run.Succeeded:
		rep.Tone, rep.Headline = Good, fmt.Sprintf("%s succeeded in %s: %s", r.ID, ui.Took(r.Took), r.Verdict.Headline)
		rep.Exit = &r.Verdict.Exit
		rep.Next = []Step{{"muster logs " + r.ID, "its output"}}
	case r.Phase == run.Stopped:
		rep.Tone, rep.Headline = Bad, fmt.Sprintf("%s was %s after %s", r.ID, r.Verdict.Headline, ui.Took(r.Took))
		rep.Exit = &r.Verdict.Exit
		rep.Next = []Step{{"muster logs " + r.ID, "its output"}}
	case r.Phase == run.Failed:
		failed(&rep, r, last)
	default:
		underWay(&rep, r, last, now)
	}
	return rep
}

// Suspect is the task whose last lines help to explain the run, if there is one.
func Suspect(r run.Run) (job.Instance, bool) {
	if f := failure(r); f != nil && f.Instance != nil {
		return f.Instance.Instance, true
	}
	if r.Done() {
		return job.Instance{}, false
	}
	if i, ok := longestSilent(r); ok {
		return i.Instance, true
	}
	return job.Instance{}, false
}

func failure(r run.Run) *run.Failure {
	if r.Verdict != nil {
		return r.Verdict.First
	}
	return r.Progress.Failure
}

func failed(rep *Report, r run.Run, last []Line) {
	f := r.Verdict.First
	rep.Tone, rep.Headline = Bad, fmt.Sprintf("%s failed after %s: %s", r.ID, ui.Took(r.Took), r.Verdict.Headline)
	rep.First, rep.Exit = f, &r.Verdict.Exit
	if f == nil {
		return
	}
	if f.Instance != nil {
		rep.Facts = append(rep.Facts, Fact{Label: "first", Lines: []string{whereAndWhen(f)}})
		if e := evidence(f.Instance); e != "" {
			rep.Facts = append(rep.Facts, Fact{Label: "evidence", Lines: []string{e}})
		}
	}
	if len(last) > 0 && f.Task != nil {
		rep.Facts = append(rep.Facts, output("its end", f.Task.String(), last))
	}
	if then := consequences(f.Then); then != "" {
		rep.Facts = append(rep.Facts, Fact{Label: "then", Lines: []string{then}})
	}
	rep.Facts = append(rep.Facts, Fact{Label: "class", Lines: []string{class(r, f)}})
	if len(r.Failures) > 0 {
		rep.Facts = append(rep.Facts, Fact{Label: "before", Lines: earlier(r.Failures)})
	}
	if f.Task != nil {
		rep.Next = append(rep.Next, Step{"muster logs " + r.ID + " --task " + f.Task.String(), "its whole log"})
	} else {
		rep.Next = append(rep.Next, Step{"muster logs " + r.ID, "the whole log"})
	}
	rep.Next = append(rep.Next, Step{"muster get " + r.ID, "every task and how it ended"})
}

func whereAndWhen(f *run.Failure) string {
	i := f.Instance
	s := fmt.Sprintf("%s at %s on %s", f.Task, ui.Clock(f.At.Local()), or(i.Node, "this machine"))
	if i.Pid != 0 {
		s += fmt.Sprintf(", pid %d", i.Pid)
	}
	s += "."
	if i.Raised != nil && i.Raised.Hung {
		s += fmt.Sprintf(" It printed a traceback and then hung while Python was ending, as MXNet workers and MPI ranks do; Muster ended it after %s.", ui.Took(i.Raised.After))
	}
	return s
}

// evidence is what the kernel said, where that matters.
func evidence(i *engine.Instance) string {
	if i.Cause == engine.ByOOM {
		return "exit 137 (SIGKILL) and " + i.Detail
	}
	return ""
}

func output(label, task string, last []Line) Fact {
	f := Fact{Label: label, Task: task}
	for _, l := range last {
		f.Lines, f.Streams = append(f.Lines, l.Text), append(f.Streams, l.Stream)
	}
	return f
}

// consequences groups the other tasks by how they ended.
func consequences(then []run.Consequence) string {
	var order []string
	by := map[string][]string{}
	for _, c := range then {
		if by[c.What] == nil {
			order = append(order, c.What)
		}
		by[c.What] = append(by[c.What], c.Task.String())
	}
	var parts []string
	for _, what := range order {
		w := what
		if len(by[what]) > 1 {
			w = strings.Replace(w, "was ", "were ", 1)
		}
		parts = append(parts, ui.Names(by[what], 6)+" "+w)
	}
	return strings.Join(parts, "; ")
}

func class(r run.Run, f *run.Failure) string {
	s := string(f.Class)
	if f.Why != "" {
		s += ": " + f.Why
	}
	return s + fmt.Sprintf("; restarts %d of %d; nothing left running", r.Restarts, r.Spec.Restart.Limit)
}

func earlier(list []run.Failure) []string {
	var lines []string
	for _, f := range list {
		s := f.What
		if f.Task != nil {
			s = f.Task.String() + " " + s
		}
		lines = append(lines, fmt.Sprintf("attempt %d: %s", f.Attempt, s))
	}
	if n := len(lines); n > 5 {
		lines = slices.Concat([]string{fmt.Sprintf("%d more", n-5)}, lines[n-5:])
	}
	return lines
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
