package supervisor

import (
	"cmp"
	"slices"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// settle is how long a failed gang may take to account for itself before the
// cause is chosen. A torch peer exits 0.3 s after the rank that was killed.
const settle = 3 * time.Second

// choose returns the failure that explains the others, nil when nothing has
// failed. What comes from outside a program explains what other programs then
// do by themselves; among equals the first to fail does.
func (s *situation) choose() *run.Failure {
	var failed []engine.Instance
	for _, t := range s.tasks {
		if i, ok := s.current[t]; ok && i.Failed() {
			failed = append(failed, i)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return s.ofInstance(slices.MinFunc(failed, func(a, b engine.Instance) int {
		return cmp.Or(cmp.Compare(weight(a), weight(b)), failedAt(a).Compare(failedAt(b)), job.CompareTasks(a.Task, b.Task))
	}))
}

// weight orders failures by how likely they are to be the root.
func weight(i engine.Instance) int {
	switch {
	case i.Cause == engine.ByOOM:
		return 1 // the kernel's word, even if we had asked it to end by then
	case i.Asked && (i.Raised == nil || i.Interrupted()):
		return 4 // it ended because we asked, be it with a crash
	case i.State == engine.Lost:
		return 0
	case i.Cause == engine.BySignal && !i.Asked && fromOutside(i.Signal):
		return 2
	}
	return 3
}

// fromOutside says that a signal is not one that a program brings on itself
// when a peer has gone: libraries abort then, and writes to the peer break.
func fromOutside(signal string) bool {
	return signal != "ABRT" && signal != "PIPE"
}

// consequences are how the other tasks ended.
func (s *situation) consequences(first *job.Task) []run.Consequence {
	var then []run.Consequence
	for _, t := range s.tasks {
		i, ok := s.current[t]
		if !ok || first != nil && t == *first || !i.State.Gone() {
			continue
		}
		then = append(then, run.Consequence{Task: t, What: Describe(i)})
	}
	return then
}
