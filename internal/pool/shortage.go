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

// ParseShortage reads the reason of a run that waits; it is false for a run
// that waits for something else.
func ParseShortage(reason string) (Shortage, bool) {
	var s Shortage
	n, _ := fmt.Sscanf(reason, "%d of %d %s free, it needs %d", &s.Free, &s.Of, &s.What, &s.Needs)
	return s, n == 4 && (s.What == Slots || s.What == GPUs)
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
