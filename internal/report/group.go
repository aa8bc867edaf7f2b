package report

import (
	"fmt"
	"slices"
	"strings"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// A Group is the explanation of a group of runs: one verdict, what became of
// its jobs, and the report of the job that decided.
type Group struct {
	Group    string    `json:"group"`
	Phase    run.Phase `json:"phase"`
	Tone     Tone      `json:"tone"`
	Headline string    `json:"headline"`
	Facts    []Fact    `json:"facts,omitempty"`
	Next     []Step    `json:"next,omitempty"`
	Exit     *run.Exit `json:"exit,omitempty"`

	// Job is the report of the job that failed first, or was stopped, or gives
	// cause for worry.
	Job *Report `json:"job,omitempty"`
}

// OfGroup explains the runs of a group, given in the order in which they run.
func OfGroup(runs []run.Run) Group {
	phase, why, exit := run.Fold(runs)
	id := runs[0].Group.ID
	g := Group{Group: id, Phase: phase, Facts: jobFacts(runs)}
	switch {
	case phase == run.Running:
		underWayGroup(&g, runs)
	case phase == run.Succeeded:
		g.Tone, g.Exit = Good, &exit
		g.Headline = fmt.Sprintf("group %s %s: %s", id, phase, why)
		g.Next = []Step{{"muster get " + id, "its jobs"}, {"muster logs " + id, "their output"}}
	default:
		g.Tone, g.Exit = Bad, &exit
		g.Headline = fmt.Sprintf("group %s %s: %s", id, phase, brief(why))
	}
	return g
}

func underWayGroup(g *Group, runs []run.Run) {
	g.Tone = Good
	over := 0
	for _, r := range runs {
		if r.Done() {
			over++
		}
	}
	g.Headline = fmt.Sprintf("group %s is under way: %d of %d jobs have ended", g.Group, over, len(runs))
	if r, ok := Deciding(runs); ok {
		g.Tone = Watch
		how := " failed"
		if r.Phase == run.Stopped {
			how = " was stopped"
		}
		g.Headline += "; " + r.Group.Job + how
	}
	g.Next = []Step{{"muster logs -f " + g.Group, "their output"}, {"muster stop " + g.Group, "ends them"}}
}

// Deciding is the job that a group's verdict is about: the first that failed,
// else the first that was stopped.
func Deciding(runs []run.Run) (run.Run, bool) {
	var found *run.Run
	for i := range runs {
		r := &runs[i]
		if r.Phase != run.Failed && r.Phase != run.Stopped || r.Skipped() {
			continue
		}
		worse := found != nil && found.Phase == run.Stopped && r.Phase == run.Failed
		if found == nil || worse || found.Phase == r.Phase && r.Ended.Before(found.Ended) {
			found = r
		}
	}
	if found == nil {
		return run.Run{}, false
	}
	return *found, true
}

// jobFacts says of each job what became of it, the worst first.
func jobFacts(runs []run.Run) []Fact {
	rep := Report{}
	by := map[string][]string{}
	for _, r := range runs {
		label, line := jobFact(r)
		by[label] = append(by[label], line)
	}
	for _, label := range []string{"failed", "skipped", "stopped", "running", "suspended", "waiting"} {
		lines := by[label]
		if over := len(lines) - few; over > 1 {
			lines = append(slices.Clone(lines[:few]), fmt.Sprintf("and %d others", over))
		}
		rep.add(label, lines...)
	}
	rep.add("succeeded", ui.Names(by["succeeded"], few))
	return rep.Facts
}

func jobFact(r run.Run) (label, line string) {
	line = r.Group.Job
	if r.Phase == run.Starting || r.Phase == run.Restarting || r.Phase == run.Ending {
		line += " (" + strings.ToLower(string(r.Phase)) + ")"
	}
	switch {
	case r.Reason != "":
		line += ": " + brief(r.Reason)
	case r.Phase == run.Pending:
		line += ": is about to start"
	}
	switch {
	case r.Skipped():
		return "skipped", line
	case r.Phase == run.Succeeded:
		return "succeeded", r.Group.Job
	case r.Phase == run.Failed, r.Phase == run.Stopped, r.Phase == run.Suspended:
		return strings.ToLower(string(r.Phase)), line
	case r.Phase == run.Pending:
		return "waiting", line
	}
	return "running", line
}
