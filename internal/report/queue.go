package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/pool"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// Queue adds to the report of a run that waits its turn who has what it waits
// for, and who comes first. active are the runs that have not ended.
func (rep *Report) Queue(r run.Run, active []run.Run, now time.Time) {
	if r.Phase != run.Pending || r.Machine == nil {
		return
	}
	machine := pool.Capacity{Slots: r.Machine.Slots, GPUs: r.Machine.GPUs}
	short, ok := pool.ShortageOf(machine, active, r.ID)
	if !ok {
		return
	}
	rep.Headline = fmt.Sprintf("%s has waited %s for %s: this machine has %d, and %s free", r.ID,
		ui.Took(max(now.Sub(r.Created), 0)), number(short.Needs, short.What), short.Of, isAre(short.Free))
	users := usersOf(short.What, active)
	rep.add("in use", inUse(short.What, users, now)...)
	ahead := aheadOf(r, short.What, active)
	rep.add("ahead", or(ui.Names(ahead, 6), "nobody"))
	if len(ahead) > 0 {
		rep.add("starts", "when those ahead have started and enough is free")
		return
	}
	rep.add("starts", startsWhen(short, users, func(gone ...run.Run) bool {
		left := slices.DeleteFunc(slices.Clone(active), func(a run.Run) bool {
			return slices.ContainsFunc(gone, func(g run.Run) bool { return g.ID == a.ID })
		})
		_, waits := pool.ShortageOf(machine, left, r.ID)
		return !waits
	}))
}

// startsWhen says which users have to end before a run can start, "" when that
// is not all that it waits for. enough says whether the end of some would do.
func startsWhen(short pool.Shortage, users []run.Run, enough func(gone ...run.Run) bool) string {
	if !enough(users...) {
		return ""
	}
	var alone []string // whose end would do by itself
	all := true        // none may be left
	for n, u := range users {
		if enough(u) {
			alone = append(alone, u.ID)
		}
		all = all && !enough(slices.Concat(users[:n], users[n+1:])...)
	}
	switch {
	case len(users) == 1:
		return fmt.Sprintf("when %s ends; muster stop %s frees it now", alone[0], alone[0])
	case all:
		return "when " + ui.Names(idsOf(users), 6) + " have ended"
	case len(alone) == len(users):
		return "when any of them ends"
	case len(alone) > 0:
		return fmt.Sprintf("when %s; the end of %s would do", freed(short), strings.Join(alone[:min(len(alone), 3)], " or "))
	}
	return "when " + freed(short)
}

// freed is how much must still become free.
func freed(short pool.Shortage) string {
	if n := short.Needs - short.Free; n != 1 {
		return fmt.Sprintf("%d more %s are free", n, short.What)
	}
	return "1 more " + strings.TrimSuffix(short.What, "s") + " is free"
}

func idsOf(runs []run.Run) []string {
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	return ids
}

func number(n int, what string) string {
	if n == 1 {
		what = strings.TrimSuffix(what, "s")
	}
	return fmt.Sprintf("%d %s", n, what)
}

func isAre(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

// usersOf are the runs that have some of what is scarce, oldest first.
func usersOf(what string, active []run.Run) []run.Run {
	var users []run.Run
	for _, r := range active {
		if g := r.Grant; g != nil && (what == pool.GPUs && len(g.GPUs) > 0 || what == pool.Slots && g.Slots > 0) {
			users = append(users, r)
		}
	}
	slices.SortStableFunc(users, func(a, b run.Run) int { return a.Created.Compare(b.Created) })
	return users
}

// inUse is a line for each user: who has what, for how long.
func inUse(what string, users []run.Run, now time.Time) []string {
	var lines []string
	for _, u := range users {
		if len(lines) == few {
			return append(lines, fmt.Sprintf("%d more runs", len(users)-few))
		}
		since := ""
		if !u.Started.IsZero() {
			since = "running " + ui.Took(max(now.Sub(u.Started), 0))
		}
		if what == pool.Slots {
			lines = append(lines, number(u.Grant.Slots, "slots")+" by "+u.ID+inBrackets(since))
			continue
		}
		tasks := slices.SortedFunc(maps.Keys(u.Grant.GPUs), compareNames)
		var gpus []string
		for _, t := range tasks {
			gpus = append(gpus, u.Grant.GPUs[t]...)
		}
		lines = append(lines, "gpu "+strings.Join(gpus, ", ")+" by "+u.ID+inBrackets(ui.Names(tasks, 3), since))
	}
	return lines
}

func inBrackets(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func compareNames(a, b string) int {
	x, errX := job.ParseTask(a)
	y, errY := job.ParseTask(b)
	if errX != nil || errY != nil {
		return cmp.Compare(a, b)
	}
	return job.CompareTasks(x, y)
}

// aheadOf are those that wait for the same and get it first.
func aheadOf(r run.Run, what string, active []run.Run) []string {
	var ids []string
	for _, other := range pool.Waiting(active) {
		if other.ID == r.ID {
			break
		}
		if what == pool.Slots || pool.ClaimOf(&other.Spec).GPUs > 0 {
			ids = append(ids, other.ID)
		}
	}
	return ids
}
