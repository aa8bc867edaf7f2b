// Package report explains a run to a person: how it ended and which task is to
// blame, what it waits for, or why it may be stuck. It is pure; the command line
// draws it, and its JSON is what programs get.
package report

import (
	"fmt"
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
	if !r.Done() {
		underWay(&rep, r, last, now)
		rep.add("note", notes(r)...)
		return fit(rep)
	}
	var v run.Verdict
	if r.Verdict != nil {
		v = *r.Verdict
	}
	rep.Exit = &v.Exit
	switch r.Phase {
	case run.Succeeded:
		rep.Tone, rep.Headline = Good, fmt.Sprintf("%s succeeded in %s: %s", r.ID, ui.Took(r.Took), brief(v.Headline))
		rep.add("before", earlier(r.Failures)...)
		rep.Next = []Step{{"muster files " + r.ID, "what it kept"}, {"muster logs " + r.ID, "its output"}}
	case run.Stopped:
		rep.Tone, rep.Headline = Bad, fmt.Sprintf("%s was %s%s", r.ID, brief(v.Headline), after(r))
		rep.add("before", earlier(r.Failures)...)
		rep.Next = []Step{{"muster logs " + r.ID, "its output"}}
	default:
		rep.Tone, rep.Headline = Bad, fmt.Sprintf("%s failed%s: %s", r.ID, after(r), brief(v.Headline))
		failed(&rep, r, v.First, last)
	}
	if r.Origin.Commit != "" {
		rep.add("code", r.CodeName())
	}
	rep.add("note", notes(r)...)
	return fit(rep)
}

// after is how long a run took until its end, if it ever began.
func after(r run.Run) string {
	if r.Started.IsZero() {
		return " before it started"
	}
	return " after " + ui.Took(r.Took)
}

// notes are what else a person should know of a run and its tasks.
func notes(r run.Run) (lines []string) {
	lines = append(lines, r.Notes...)
	by := map[string][]string{}
	var order []string
	for _, i := range r.Tasks {
		if i.Note != "" && by[i.Note] == nil {
			order = append(order, i.Note)
		}
		by[i.Note] = append(by[i.Note], i.Task.String())
	}
	for _, note := range order {
		lines = append(lines, ui.Names(by[note], 6)+": "+note)
	}
	return lines
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

// add adds a fact, if there is something to say.
func (rep *Report) add(label string, lines ...string) {
	if len(lines) > 0 && lines[0] != "" {
		rep.Facts = append(rep.Facts, Fact{Label: label, Lines: lines})
	}
}

// quote adds a task's own output, if there is any.
func (rep *Report) quote(label, task string, last []Line) {
	f := Fact{Label: label, Task: task}
	for _, l := range last {
		f.Lines, f.Streams = append(f.Lines, l.Text), append(f.Streams, l.Stream)
	}
	if len(last) > 0 {
		rep.Facts = append(rep.Facts, f)
	}
}
