package report

import (
	"fmt"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// underWay explains a run that has not ended.
func underWay(rep *Report, r run.Run, last []Line, now time.Time) {
	rep.Next = []Step{{"muster logs -f " + r.ID, "its output"}, {"muster stop " + r.ID, "ends it"}}
	switch r.Phase {
	case run.Pending:
		rep.Tone, rep.Headline = Waiting, fmt.Sprintf("%s has waited %s: %s", r.ID, ui.Took(now.Sub(r.Created)), or(r.Reason, "it is about to start"))
	case run.Suspended:
		rep.Tone, rep.Headline = Waiting, fmt.Sprintf("%s is suspended", r.ID)
	case run.Restarting:
		rep.Tone, rep.Headline = Watch, fmt.Sprintf("%s is being restarted after attempt %d: %s", r.ID, r.Attempt, r.Reason)
		rep.Facts = []Fact{{Label: "budget", Lines: []string{fmt.Sprintf("restarts %d of %d", r.Restarts, r.Spec.Restart.Limit)}}}
	case run.Ending:
		rep.Tone, rep.Headline = Watch, fmt.Sprintf("%s is ending: %s", r.ID, or(r.Reason, "its tasks have finished"))
		rep.Facts = []Fact{{Label: "left", Lines: []string{strings.Join(alive(r), ", ")}}}
	default:
		active(rep, r, last, now)
	}
}

// active explains a gang that runs: who has not joined, who is silent.
func active(rep *Report, r run.Run, last []Line, now time.Time) {
	late := notJoined(r)
	quiet, ok := longestSilent(r)
	switch {
	case len(late) > 0 && sinceStart(r, now) >= missing:
		rep.Tone, rep.Headline = Watch, fmt.Sprintf("%s waits for its rendezvous: %d of %d tasks have not joined after %s", r.ID, len(late), len(r.Tasks), ui.Took(sinceStart(r, now)))
		for _, i := range late {
			rep.Facts = append(rep.Facts, Fact{Label: "missing", Lines: []string{describe(i, now)}})
		}
		rep.Facts = append(rep.Facts, Fact{Label: "limit", Lines: []string{"limits.rendezvous, " + ui.Took(r.Spec.Limits.RendezvousOr()) + ", then the attempt fails"}})
	case ok && leastSilent(r) >= silence:
		rep.Tone, rep.Headline = Watch, fmt.Sprintf("%s may be stuck: %d of %d tasks silent for %s. %s", r.ID, len(alive(r)), len(r.Tasks), ui.Took(leastSilent(r)), stallWords(r))
		rep.Facts = append(rep.Facts, Fact{Label: "suspect", Lines: []string{describe(quiet, now)}})
		if n := len(alive(r)) - 1; n > 0 {
			rep.Facts = append(rep.Facts, Fact{Label: "waiting", Lines: []string{fmt.Sprintf("%d others, silent %s or more; a task that uses CPU may only be waiting", n, ui.Took(leastSilent(r)))}})
		}
		if len(last) > 0 {
			rep.Facts = append(rep.Facts, output("its last", quiet.Task.String(), last))
		}
	default:
		rep.Tone, rep.Headline = Good, fmt.Sprintf("%s is %s: %d of %d tasks, attempt %d", r.ID, strings.ToLower(string(r.Phase)), len(alive(r)), len(r.Tasks), r.Attempt)
		for _, i := range r.Tasks {
			rep.Facts = append(rep.Facts, Fact{Label: i.Task.String(), Lines: []string{state(i, now)}})
		}
	}
}

func stallWords(r run.Run) string {
	if r.Spec.Limits.Stall == 0 {
		return "No stall limit is set, so nothing was done."
	}
	return "limits.stall is " + r.Spec.Limits.Stall.String() + "."
}

// sinceStart is how long the attempt's tasks have been running.
func sinceStart(r run.Run, now time.Time) time.Duration {
	var newest time.Time
	for _, i := range r.Tasks {
		if i.Started.After(newest) {
			newest = i.Started
		}
	}
	if newest.IsZero() {
		return 0
	}
	return now.Sub(newest)
}

func notJoined(r run.Run) []engine.Instance {
	var late []engine.Instance
	for _, i := range r.Tasks {
		if !i.State.Gone() && !i.Joined {
			late = append(late, i)
		}
	}
	return late
}

func alive(r run.Run) []string {
	var all []string
	for _, i := range r.Tasks {
		if !i.State.Gone() {
			all = append(all, i.Task.String())
		}
	}
	return all
}

func longestSilent(r run.Run) (longest engine.Instance, ok bool) {
	for _, i := range r.Tasks {
		if !i.State.Gone() && i.Usage.Silent >= longest.Usage.Silent {
			longest, ok = i, true
		}
	}
	return longest, ok
}

func leastSilent(r run.Run) time.Duration {
	least := time.Duration(-1)
	for _, i := range r.Tasks {
		if !i.State.Gone() && (least < 0 || i.Usage.Silent < least) {
			least = i.Usage.Silent
		}
	}
	return max(least, 0)
}

// describe is one task with the evidence of what it does.
func describe(i engine.Instance, now time.Time) string {
	return fmt.Sprintf("%s   pid %d, running %s, silent %s, cpu %.0f%%", i.Task, i.Pid, ui.Took(now.Sub(i.Started)), ui.Took(i.Usage.Silent), 100*i.Usage.CPU)
}

// state is one task in a few words.
func state(i engine.Instance, now time.Time) string {
	if i.State != engine.Running {
		return string(i.State)
	}
	s := fmt.Sprintf("running %s, silent %s, cpu %.0f%%, mem %s", ui.Took(now.Sub(i.Started)), ui.Took(i.Usage.Silent), 100*i.Usage.CPU, ui.ShortBytes(i.Usage.Memory))
	if !i.Joined {
		s += ", has not joined"
	}
	return s
}
