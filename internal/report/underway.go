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
	follow, stop := Step{"muster logs -f " + r.ID, "its output"}, Step{"muster stop " + r.ID, "ends it"}
	rep.Next = []Step{follow, stop}
	switch r.Phase {
	case run.Pending:
		rep.Tone, rep.Headline = Waiting, fmt.Sprintf("%s has waited %s: %s", r.ID, ui.Took(now.Sub(r.Created)), or(r.Reason, "it is about to start"))
		rep.Next = []Step{stop}
	case run.Suspended:
		rep.Tone, rep.Headline = Waiting, fmt.Sprintf("%s is %s", r.ID, or(r.Reason, "suspended"))
		rep.Next = []Step{{"muster resume " + r.ID, "starts it again"}, stop}
	case run.Restarting:
		restarting(rep, r)
	case run.Ending:
		rep.Tone, rep.Headline = Watch, fmt.Sprintf("%s is ending: %s", r.ID, brief(or(r.Reason, "its tasks have finished")))
		if left := alive(r); len(left) > 0 {
			rep.add("left", fmt.Sprintf("%s; killed at the latest %s after being asked", ui.Names(left, 6), ui.Took(r.Spec.Stop.GraceOr())))
		}
	default:
		active(rep, r, last, now)
	}
}

func restarting(rep *Report, r run.Run) {
	rep.Tone, rep.Headline = Watch, fmt.Sprintf("%s is being restarted after attempt %d: %s", r.ID, r.Attempt, brief(r.Reason))
	rep.add("budget", fmt.Sprintf("restarts %d of %d", r.Restarts, r.Spec.Restart.Limit))
	p := r.Progress
	switch left := alive(r); {
	case p.Ending != "" && len(left) > 0:
		rep.add("waiting", ui.Names(left, 6)+" must end first")
	case p.NotBefore > p.Clock:
		rep.add("waiting", fmt.Sprintf("attempt %d starts within %s (restart.backoff)", r.Attempt+1, ui.Took(p.NotBefore-p.Clock)))
	}
}

// active explains a gang that runs: who has not joined, who is silent.
func active(rep *Report, r run.Run, last []Line, now time.Time) {
	quiet, ok := longestSilent(r)
	switch {
	case len(notJoined(r)) > 0 && sinceStart(r, now) >= missing:
		unjoined(rep, r, now)
	case ok && leastSilent(r) >= silence:
		stuck(rep, r, quiet, last)
	default:
		rep.Tone, rep.Headline = Good, fmt.Sprintf("%s is %s: %d of %d tasks, attempt %d", r.ID, strings.ToLower(string(r.Phase)), len(alive(r)), len(r.Spec.Tasks()), r.Attempt)
		if r.Reason != "" {
			rep.Tone = Watch
			rep.add("because", brief(r.Reason))
		}
		fine(rep, r, now)
		rep.add("before", earlier(r.Failures)...)
	}
}

// few is how many tasks are shown one by one.
const few = 8

// fine shows how tasks are that give no cause for worry.
func fine(rep *Report, r run.Run, now time.Time) {
	if len(r.Tasks) <= few {
		for _, i := range r.Tasks {
			rep.add(i.Task.String(), state(i, now))
		}
		return
	}
	for _, role := range r.Spec.RoleNames() {
		byState := map[engine.State]int{}
		for _, i := range r.Tasks {
			if i.Task.Role == role {
				byState[i.State]++
			}
		}
		var parts []string
		for _, s := range []engine.State{engine.Holding, engine.Starting, engine.Running, engine.Stopping, engine.Clearing, engine.Exited, engine.Lost} {
			if byState[s] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", byState[s], s))
			}
		}
		rep.add(role, strings.Join(parts, ", "))
	}
}

// unjoined explains a rendezvous that is not complete.
func unjoined(rep *Report, r run.Run, now time.Time) {
	late := notJoined(r)
	rep.Tone = Watch
	rep.Headline = fmt.Sprintf("%s waits for its rendezvous: %d of %d tasks have not joined after %s", r.ID, len(late), len(r.Spec.Tasks()), ui.Took(sinceStart(r, now)))
	var lines []string
	for n, i := range late {
		if n == few && len(late) > few+1 {
			lines = append(lines, fmt.Sprintf("and %d others", len(late)-few))
			break
		}
		lines = append(lines, describe(i, now))
	}
	rep.add("missing", lines...)
	rep.add("limit", "limits.rendezvous, "+ui.Took(r.Spec.Limits.RendezvousOr())+", then the attempt fails")
}

// stuck explains a gang of which nobody has written anything for long.
func stuck(rep *Report, r run.Run, quiet engine.Instance, last []Line) {
	rep.Tone = Watch
	rep.Headline = fmt.Sprintf("%s may be stuck: %d of %d tasks silent for %s. %s", r.ID, len(alive(r)), len(r.Spec.Tasks()), ui.Took(leastSilent(r)), stallWords(r))
	rep.add("suspect", fmt.Sprintf("%s   silent longest, %s, cpu %.0f%%", quiet.Task, ui.Took(quiet.Usage.Silent), 100*quiet.Usage.CPU))
	rep.add("waiting", others(r, quiet))
	rep.quote("its last", quiet.Task.String(), last)
	if r.Spec.Limits.Stall == 0 {
		rep.add("hint", "limits: {stall: 10m} in the job file ends such a run for you")
	}
}

// others is what the tasks beside the suspect do.
func others(r run.Run, quiet engine.Instance) string {
	n, least, most := 0, 0.0, 0.0
	for _, i := range r.Tasks {
		if i.Over() || i.Task == quiet.Task {
			continue
		}
		if n == 0 || i.Usage.CPU < least {
			least = i.Usage.CPU
		}
		most = max(most, i.Usage.CPU)
		n++
	}
	if n == 0 {
		return ""
	}
	who := "1 other"
	if n > 1 {
		who = fmt.Sprintf("%d others", n)
	}
	cpu := fmt.Sprintf("%.0f%%", 100*least)
	if high := fmt.Sprintf("%.0f%%", 100*most); high != cpu {
		cpu += " to " + high
	}
	s := fmt.Sprintf("%s   silent %s, cpu %s", who, ui.Took(leastSilent(r)), cpu)
	if most >= 0.5 {
		s += " (may spin in a collective: busy is not working)"
	}
	return s
}

func stallWords(r run.Run) string {
	if r.Spec.Limits.Stall == 0 {
		return "No stall limit is set, so nothing was done."
	}
	return "limits.stall is " + r.Spec.Limits.Stall.String() + "."
}
