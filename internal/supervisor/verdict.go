package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// end writes the verdict and the terminal phase, in that order and once.
func (s *situation) end(o run.Outcome, f *run.Failure) {
	v := &run.Verdict{First: f}
	switch o {
	case run.ToSucceed:
		v.Phase, v.Headline, v.Exit = run.Succeeded, s.successWords(), run.Exit{By: "task"}
	case run.ToStop:
		v.Phase, v.Headline, v.Exit = run.Stopped, s.stoppedBy(), run.Exit{Code: stopCode(s.r.Intent), By: "muster"}
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
	return 128 + engine.SignalNumber(i.Signal)
}

// failureExit is the code that commands report: the deciding task's own, or
// ours where no task decided.
func failureExit(f *run.Failure) run.Exit {
	switch f.Kind {
	case run.OfRunLimit, run.OfQueueLimit, run.OfRendezvous, run.OfStall:
		return run.Exit{Code: run.ExitLimit, By: "muster"}
	case run.OfNode, run.OfRefusal:
		return run.Exit{Code: run.ExitRefused, By: "muster"}
	}
	i := f.Instance
	switch {
	case f.Kind == run.OfEarlyExit || i == nil || f.Class == run.NodeLost:
		return run.Exit{Code: 1, By: "muster"}
	case i.Cause == engine.ByLogLimit, i.Cause == engine.ByHealth:
		return run.Exit{Code: run.ExitLimit, By: "muster"}
	}
	return run.Exit{Code: max(i.ExitCode(), 1), By: "task"}
}

// successWords says who finished and what became of the others.
func (s *situation) successWords() string {
	if s.successRule() == ruleAny {
		return s.anyWords()
	}
	var who, helpers []string
	n := 0
	for _, role := range s.r.Spec.RoleNames() {
		if s.deciding(job.Task{Role: role}) || s.finished(role) {
			n += s.r.Spec.TaskCount(role)
			who = append(who, count(role, s.r.Spec.TaskCount(role)))
		} else {
			helpers = append(helpers, role)
		}
	}
	words := and(who) + " finished"
	if len(helpers) > 0 {
		slices.Reverse(helpers) // those nearest to the work first
		words += "; " + and(helpers) + " ended after " + pronoun(n)
	}
	return words
}

// finished says that all tasks of a role ended well by themselves, and are no
// helpers, which do so after the others: MPI's ranks, before their launcher.
func (s *situation) finished(role string) bool {
	for _, t := range s.tasks {
		if t.Role == role && (!s.endedWell(t) || s.current[t].Asked) {
			return false
		}
	}
	return !slices.Contains(s.facts.Helpers, role)
}

// anyWords names those who finished when one was enough.
func (s *situation) anyWords() string {
	var who []job.Task
	for _, t := range s.tasks {
		if s.endedWell(t) && !s.current[t].Asked {
			who = append(who, t)
		}
	}
	words := names(who) + " finished"
	if len(who) < len(s.tasks) {
		words += ", which is enough with success: any; the others were ended"
	}
	return words
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
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
