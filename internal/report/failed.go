package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// failed explains a failure: who, where and when, how it shows, what became of
// the others, whether another try is worth it.
func failed(rep *Report, r run.Run, f *run.Failure, last []Line) {
	rep.First = f
	if f == nil {
		return
	}
	if f.Instance != nil {
		rep.add(firstLabel(f), whereAndWhen(r, f))
		rep.add("evidence", evidence(f))
	}
	if len(f.Missing) > 0 {
		rep.add("missing", missingOf(r, f))
	}
	if f.Task != nil {
		rep.quote("its end", f.Task.String(), last)
	}
	rep.add("then", consequences(r, f)...)
	rep.add("class", class(r, f))
	rep.add("before", earlier(r.Failures)...)
	switch {
	case r.Started.IsZero(), f.Instance != nil && f.Instance.Cause == engine.StartFailed && len(last) == 0: // nothing was written
	case f.Task != nil:
		rep.Next = append(rep.Next, Step{"muster logs " + r.ID + " --task " + f.Task.String(), "its whole log"})
	default:
		rep.Next = append(rep.Next, Step{"muster logs " + r.ID, "the whole log"})
	}
	rep.Next = append(rep.Next, onceMore(r, f))
}

// onceMore is how to run the same once more: a job of a group with its group.
func onceMore(r run.Run, f *run.Failure) Step {
	s := Step{"muster rerun " + r.ID, "the same job again"}
	if r.Group != nil {
		s = Step{"muster run -f " + r.Origin.File, "the group again"}
	}
	if f.Class == run.Permanent {
		s.Why += ", after your fix"
	}
	return s
}

// firstLabel is what the deciding task is called: one that was silent for too
// long has not failed, and may be only the one that waited longest.
func firstLabel(f *run.Failure) string {
	if f.Instance.State.Gone() {
		return "first"
	}
	return "suspect"
}

func whereAndWhen(r run.Run, f *run.Failure) string {
	i := f.Instance
	s := f.Instance.Task.String()
	if !f.At.IsZero() {
		s += " at " + ui.Clock(f.At.Local())
	}
	s += " on " + or(i.Node, "this machine")
	if i.Pid != 0 {
		s += fmt.Sprintf(", pid %d", i.Pid)
	}
	s += "."
	if i.Raised != nil && i.Raised.Hung {
		s += fmt.Sprintf(" It printed a traceback and then hung %s; Muster ended it after %s.", rendezvous.FactsOf(r.Spec.Framework.Name).Hangs, ui.Took(i.Raised.After))
	}
	return s
}

// evidence is what the kernel said, where that matters.
func evidence(f *run.Failure) string {
	if f.Instance.Cause != engine.ByOOM {
		return ""
	}
	_, proof, ok := strings.Cut(f.Instance.Detail, "; ")
	if !ok {
		proof = or(f.Instance.Detail, "the kernel's word that memory ran out")
	}
	return "exit 137 (SIGKILL) and " + proof + ", at " + ui.Clock(f.At.Local())
}

// missingOf says who did not come to the rendezvous, and who did.
func missingOf(r run.Run, f *run.Failure) string {
	var names []string
	for _, t := range f.Missing {
		names = append(names, t.String())
	}
	all := len(r.Spec.Tasks())
	if len(names) == all {
		return fmt.Sprintf("all %d tasks; nobody was seen to join", all)
	}
	return fmt.Sprintf("%s, of %d tasks; the others had joined", ui.Names(names, 6), all)
}

// groups is how many kinds of ends are told apart among the other tasks.
const groups = 3

// consequences groups the other tasks by how they ended.
func consequences(r run.Run, f *run.Failure) []string {
	var order []string
	by := map[string][]string{}
	for _, c := range f.Then {
		if by[c.What] == nil {
			order = append(order, c.What)
		}
		by[c.What] = append(by[c.What], c.Task.String())
	}
	var lines []string
	rest := 0
	for n, what := range order {
		if n >= groups {
			rest += len(by[what])
			continue
		}
		lines = append(lines, ui.Names(by[what], 6)+" "+brief(became(what, len(by[what]), endingTook(r, f, by[what]))))
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("%d others ended in other ways", rest))
	}
	return lines
}

// became is how n tasks ended, and how long that took if we ended them.
func became(what string, n int, took time.Duration) string {
	if signal, ended := strings.CutPrefix(what, "was ended ("); ended && strings.HasPrefix(signal, "SIG") && took > 0 {
		what = strings.TrimSuffix(what, ")") + ", " + ui.Took(took) + ")"
	}
	if n > 1 {
		what = strings.Replace(what, "was ", "were ", 1)
	}
	return what
}

// endingTook is from the failure to the end of the last of these tasks. One
// that raised and hung was known to have failed only when it was ended.
func endingTook(r run.Run, f *run.Failure, tasks []string) time.Duration {
	first, last := f.At, time.Time{}
	if f.Instance != nil && f.Instance.Ended.After(first) {
		first = f.Instance.Ended
	}
	for _, i := range r.Tasks {
		if slices.Contains(tasks, i.Task.String()) && i.Ended.After(last) {
			last = i.Ended
		}
	}
	if last.IsZero() || first.IsZero() {
		return 0
	}
	return last.Sub(first)
}

func class(r run.Run, f *run.Failure) string {
	s := string(f.Class)
	if f.Why != "" {
		s += ": " + f.Why
	}
	return s + fmt.Sprintf("; restarts %d of %d; nothing left running", r.Restarts, r.Spec.Restart.Limit)
}

// earlier are the failures of earlier attempts, the last of them.
func earlier(list []run.Failure) []string {
	const show = 3
	var lines []string
	if n := len(list); n > show+1 {
		lines = append(lines, fmt.Sprintf("%d more", n-show))
		list = list[n-show:]
	}
	for _, f := range list {
		s := fmt.Sprintf("attempt %d: %s", f.Attempt, what(f))
		lines = append(lines, ui.Cut(strings.Join(strings.Fields(s), " "), factWidth, "..."))
	}
	return lines
}

func what(f run.Failure) string {
	if f.Task == nil {
		return f.What
	}
	return f.Task.String() + " " + f.What
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
