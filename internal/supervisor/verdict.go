package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"muster.dev/muster/internal/run"
)

// end writes the verdict and the terminal phase, in that order and once.
func (s *situation) end(o run.Outcome, f *run.Failure) {
	v := &run.Verdict{First: f}
	switch o {
	case run.ToSucceed:
		v.Phase, v.Headline, v.Exit = run.Succeeded, s.successWords(), run.Exit{By: "task"}
	case run.ToStop:
		v.Phase, v.Headline, v.Exit = run.Stopped, "stopped by "+orElse(s.r.Intent.By, "its user"), run.Exit{Code: stopCode(s.r.Intent), By: "muster"}
	default:
		v.Phase, v.Headline, v.Exit = run.Failed, Headline(f), failureExit(f)
	}
	s.r.Verdict = v
	s.r.Ended = s.tick.Now
	if s.p.Began != 0 {
		s.r.Took = s.p.Clock - s.p.Began
	}
	reason := v.Headline
	if v.Phase == run.Succeeded {
		reason = ""
	}
	s.enter(v.Phase, reason)
}

func stopCode(i run.Intent) int {
	if i.Signal == "" {
		return run.ExitStopped
	}
	return 128 + SignalNumber(i.Signal)
}

// failureExit is the code that commands report: the deciding task's own, or
// ours where no task decided.
func failureExit(f *run.Failure) run.Exit {
	switch f.Kind {
	case kindRun, kindRendezvous, kindStall:
		return run.Exit{Code: run.ExitLimit, By: "muster"}
	case kindNode:
		return run.Exit{Code: run.ExitRefused, By: "muster"}
	}
	i := f.Instance
	switch {
	case f.Kind == kindEarly || i == nil || f.Class == run.NodeLost:
		return run.Exit{Code: 1, By: "muster"}
	case i.Cause == "log-limit":
		return run.Exit{Code: run.ExitLimit, By: "muster"}
	}
	return run.Exit{Code: max(ExitCode(*i), 1), By: "task"}
}

// successWords says who finished and what became of the others.
func (s *situation) successWords() string {
	var helpers []string
	deciding := map[string]int{}
	var roles []string
	for _, t := range s.tasks {
		if s.deciding(t) {
			if deciding[t.Role]++; !slices.Contains(roles, t.Role) {
				roles = append(roles, t.Role)
			}
		} else if !slices.Contains(helpers, t.Role) {
			helpers = append(helpers, t.Role)
		}
	}
	var who []string
	for _, r := range roles {
		who = append(who, count(r, deciding[r]))
	}
	words := strings.Join(who, ", ") + " finished"
	if len(helpers) > 0 {
		words += "; " + strings.Join(helpers, " and ") + " ended after them"
	}
	return words
}

func count(role string, n int) string {
	switch n {
	case 1:
		return role + "-0"
	case 2:
		return "both " + role + "s"
	}
	return fmt.Sprintf("all %d %ss", n, role)
}
