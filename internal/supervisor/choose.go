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

// choose returns the failure that explains the others: of the instances that
// failed by themselves, one that was lost, else out of memory, else killed by a
// signal that is not ours, else the first to end.
func (s *situation) choose() *run.Failure {
	var failed []engine.Instance
	for _, t := range s.tasks {
		if i, ok := s.current[t]; ok && i.Failed() && ownFailure(i) {
			failed = append(failed, i)
		}
	}
	if len(failed) == 0 {
		return s.taskFailure()
	}
	first := slices.MinFunc(failed, func(a, b engine.Instance) int {
		return cmp.Or(cmp.Compare(weight(a), weight(b)), failedAt(a).Compare(failedAt(b)), job.CompareTasks(a.Task, b.Task))
	})
	return s.ofInstance(first)
}

// ownFailure says that the instance failed by itself, not because we ended it.
// One that raised, or that died of a signal we never send, did so even if it
// had been asked to stop by then.
func ownFailure(i engine.Instance) bool {
	return !i.Asked || i.Raised != nil || i.Cause == engine.ByOOM || i.Cause == engine.BySignal && crash(i.Signal)
}

// weight orders causes by how likely they are to be the root: what comes from
// outside a program explains what other programs then do by themselves. ABRT is
// not among them: libraries abort when a peer has gone.
func weight(i engine.Instance) int {
	switch {
	case i.State == engine.Lost:
		return 0
	case i.Cause == engine.ByOOM:
		return 1
	case i.Cause == engine.BySignal && (i.Signal == "KILL" || crash(i.Signal)):
		return 2
	}
	return 3
}

// crash says that a signal is raised by the hardware or the kernel on behalf of
// a broken program.
func crash(signal string) bool {
	return slices.Contains([]string{"SEGV", "BUS", "ILL", "FPE", "SYS"}, signal)
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
