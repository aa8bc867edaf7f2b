package pool

import (
	"fmt"

	"muster.dev/muster/internal/run"
)

// What can be scarce, as reasons name it.
const (
	Slots = "slots"
	GPUs  = "GPUs"
)

// A Shortage is why a run waits.
type Shortage struct {
	What            string // Slots or GPUs
	Free, Of, Needs int
}

func (s Shortage) String() string {
	return fmt.Sprintf("%d of %d %s free, it needs %d", s.Free, s.Of, s.What, s.Needs)
}

// ShortageOf is what a run among the active ones waits for; false when that is
// nothing that the machine has.
func ShortageOf(c Capacity, active []run.Run, id string) (Shortage, bool) {
	all := make([]*run.Run, len(active))
	for i := range active {
		all[i] = &active[i]
	}
	l := newLedger(c, all)
	for _, r := range Waiting(active) {
		short := l.shortages(ClaimOf(&r.Spec))
		if r.ID == id {
			return append(short, Shortage{})[0], len(short) > 0
		}
		l.queue(r.ID, short)
	}
	return Shortage{}, false
}

// Waiting are the runs that wait for slots or GPUs and for nothing else, in the
// order in which they get them.
func Waiting(active []run.Run) []*run.Run {
	var free []*run.Run
	for i := range active {
		if len(active[i].Needs) == 0 {
			free = append(free, &active[i])
		}
	}
	return waiting(free)
}
