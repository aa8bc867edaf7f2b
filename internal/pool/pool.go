// Package pool shares out what a machine has to give whole: slots and GPUs. It
// is pure; the store makes one round of it one transaction, so that nothing is
// ever given twice, whichever process asks.
package pool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// A Capacity is what a machine has. CPU is not in it: it is shared.
type Capacity struct {
	Slots int      // how many tasks may run at a time; 0 for any number
	GPUs  []string // devices, as CUDA_VISIBLE_DEVICES names them
}

// A Claim is what a run wants.
type Claim struct {
	Slots int
	GPUs  int
}

// ClaimOf is what a job's tasks want together: a slot each, and their GPUs.
func ClaimOf(s *job.Spec) Claim {
	c := Claim{}
	for _, t := range s.Tasks() {
		c.Slots++
		c.GPUs += s.GPUsOf(t)
	}
	return c
}

// Impossible says, in words, why a claim could never be met; "" when it could.
func (c Capacity) Impossible(want Claim) string {
	switch {
	case want.GPUs > len(c.GPUs):
		return fmt.Sprintf("it needs %s, and this machine has %d", counted(want.GPUs, "GPU"), len(c.GPUs))
	case c.Slots > 0 && want.Slots > c.Slots:
		return fmt.Sprintf("it has %s, and this machine has %s", counted(want.Slots, "task"), counted(c.Slots, "slot"))
	}
	return ""
}

func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// fresh is how many of the runs that wait are told anew at every round what they
// wait for. Those behind them keep their first reason until they come nearer:
// to write a thousand records at every end of a run costs more than it tells.
const fresh = 20

// Round gives what is free to the runs that wait, the highest priority first,
// then the oldest. One that does not fit is not overtaken by others that want
// what it waits for. It writes Grant, and Reason for those that go on waiting,
// and returns the runs that were given something, and all that it wrote to.
func Round(c Capacity, active []*run.Run) (granted, changed []*run.Run) {
	l := newLedger(c, active)
	for n, r := range waiting(active) {
		was := r.Reason
		short := l.shortages(ClaimOf(&r.Spec))
		switch why := l.dependent(r); {
		case why != "":
			r.Reason = why
		case len(short) == 0:
			l.give(r)
			granted = append(granted, r)
		default:
			if n < fresh || r.Reason == "" {
				r.Reason = l.words(short[0])
			}
			l.queue(r.ID, short)
		}
		if r.Grant != nil || r.Reason != was {
			changed = append(changed, r)
		}
	}
	return granted, changed
}

// waiting are the runs that want something, in the order in which they get it.
func waiting(active []*run.Run) []*run.Run {
	var list []*run.Run
	for _, r := range active {
		if r.Phase == run.Pending && r.Grant == nil && (r.Intent.Want == "" || r.Intent.Want == run.WantRun) {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *run.Run) int {
		return cmp.Or(cmp.Compare(b.Spec.Priority, a.Spec.Priority), a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
	})
	return list
}

// A ledger is what is free during a round.
type ledger struct {
	c     Capacity
	slots int      // free; meaningless without a limit
	gpus  []string // free
	users map[string][]string
	ahead map[string][]string // who waits, by what for
	group map[string]int      // how many of a group have been given their turn
}

func newLedger(c Capacity, active []*run.Run) *ledger {
	l := &ledger{c: c, slots: c.Slots, gpus: slices.Clone(c.GPUs), users: map[string][]string{}, ahead: map[string][]string{}, group: map[string]int{}}
	for _, r := range active {
		if r.Grant == nil {
			continue
		}
		if r.Group != nil {
			l.group[r.Group.ID]++
		}
		l.slots -= r.Grant.Slots
		if r.Grant.Slots > 0 {
			l.users[Slots] = append(l.users[Slots], r.ID)
		}
		for _, devices := range r.Grant.GPUs {
			l.gpus = slices.DeleteFunc(l.gpus, func(g string) bool { return slices.Contains(devices, g) })
		}
		if len(r.Grant.GPUs) > 0 {
			l.users[GPUs] = append(l.users[GPUs], r.ID)
		}
	}
	return l
}

// dependent says which others of its group a run has to wait for, "" for none.
// It stands in nobody's way meanwhile.
func (l *ledger) dependent(r *run.Run) string {
	if len(r.Needs) > 0 {
		names := make([]string, len(r.Needs))
		for i, n := range r.Needs {
			names[i] = n.Job
		}
		return "needs " + list(names)
	}
	if g := r.Group; g != nil && g.MaxParallel > 0 && l.group[g.ID] >= g.MaxParallel {
		return fmt.Sprintf("%d of its group run, max_parallel is %d", l.group[g.ID], g.MaxParallel)
	}
	return ""
}

// shortages are what a claim has to wait for; none: it can be met.
func (l *ledger) shortages(want Claim) (short []Shortage) {
	if want.GPUs > 0 && (want.GPUs > len(l.gpus) || len(l.ahead[GPUs]) > 0) {
		short = append(short, Shortage{GPUs, len(l.gpus), len(l.c.GPUs), want.GPUs})
	}
	if l.c.Slots > 0 && (want.Slots > l.slots || len(l.ahead[Slots]) > 0) {
		short = append(short, Shortage{Slots, max(l.slots, 0), l.c.Slots, want.Slots})
	}
	return short
}

func (l *ledger) words(s Shortage) string {
	text := s.String()
	if u := l.users[s.What]; len(u) > 0 {
		text += "; in use by " + list(u)
	}
	if a := l.ahead[s.What]; len(a) > 0 {
		text += "; ahead of it " + list(a)
	}
	return text
}

func list(ids []string) string {
	if len(ids) > 3 {
		return fmt.Sprintf("%s and %d others", strings.Join(ids[:3], ", "), len(ids)-3)
	}
	return strings.Join(ids, ", ")
}

// queue notes what a run waits for, so that none behind it takes that.
func (l *ledger) queue(id string, short []Shortage) {
	for _, s := range short {
		l.ahead[s.What] = append(l.ahead[s.What], id)
	}
}

// give grants a run what it wants, which is free.
func (l *ledger) give(r *run.Run) {
	want := ClaimOf(&r.Spec)
	g := &run.Grant{}
	if l.c.Slots > 0 {
		g.Slots = want.Slots
		l.slots -= want.Slots
		l.users[Slots] = append(l.users[Slots], r.ID)
	}
	for _, t := range r.Spec.Tasks() {
		n := r.Spec.GPUsOf(t)
		if n == 0 {
			continue
		}
		if g.GPUs == nil {
			g.GPUs = map[string][]string{}
			l.users[GPUs] = append(l.users[GPUs], r.ID)
		}
		g.GPUs[t.String()] = slices.Clone(l.gpus[:n])
		l.gpus = l.gpus[n:]
	}
	if r.Group != nil {
		l.group[r.Group.ID]++
	}
	r.Grant, r.Reason = g, ""
}
