package supervisor

import (
	"fmt"
	"slices"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// earlyHelper is how long deciding tasks may go on after a helper such as
// MXNet's scheduler has ended well: at a normal end all leave within a second;
// after that they would wait for it for ever.
const earlyHelper = 10 * time.Second

// failed looks for a reason to end the attempt and begins the ending.
func (s *situation) failed() bool {
	for _, look := range []func() *run.Failure{s.trouble, s.taskFailure, s.earlyExit, s.runLimit, s.rendezvousLimit, s.stall} {
		f := look()
		if f == nil {
			continue
		}
		f.Attempt = s.r.Attempt
		if f.Kind == kindTask && s.restartsAlone(f) {
			return false
		}
		s.beginEnding(run.ToFail, f)
		return true
	}
	return false
}

// The kinds of failure.
const (
	kindTask       = "task"
	kindEarly      = "early"
	kindRun        = "run-limit"
	kindRendezvous = "rendezvous"
	kindStall      = "stall"
	kindNode       = "node"
)

// trouble is what keeps the node itself from going on.
func (s *situation) trouble() *run.Failure {
	if s.seen.Trouble == "" {
		return nil
	}
	return &run.Failure{Kind: kindNode, What: s.seen.Trouble, At: s.tick.Now, Class: run.Permanent}
}

// taskFailure is a task that has failed.
func (s *situation) taskFailure() *run.Failure {
	for _, t := range s.tasks {
		if i, ok := s.current[t]; ok && i.Failed() {
			return s.ofInstance(i)
		}
	}
	return nil
}

// earlyExit is a helper that has ended, well but too early.
func (s *situation) earlyExit() *run.Failure {
	for _, t := range s.tasks {
		i, ok := s.current[t]
		if !ok || i.State != engine.Exited || !slices.Contains(s.facts.Helpers, t.Role) {
			continue
		}
		if s.p.Early == 0 {
			s.p.Early = max(s.p.Clock, 1)
		}
		if s.due(s.p.Early + earlyHelper) {
			f := s.ofInstance(i)
			f.Kind, f.What = kindEarly, fmt.Sprintf("exited with code 0 while the others still needed it")
			return f
		}
		return nil
	}
	return nil
}

// ofInstance describes the failure of an instance.
func (s *situation) ofInstance(i engine.Instance) *run.Failure {
	task := i.Task
	class, why := classify(i, s.r.Spec.Restart.Codes)
	i.Usage = engine.Usage{}
	return &run.Failure{
		Attempt: i.Attempt, Kind: kindTask, Task: &task, What: Describe(i), At: failedAt(i),
		Class: class, Why: why, Instance: &i,
	}
}

// failedAt is when the failure happened, which for a program that raised and
// then hung is before its end.
func failedAt(i engine.Instance) time.Time {
	if i.Raised != nil && !i.Raised.At.IsZero() {
		return i.Raised.At
	}
	return i.Ended
}

func names(ts []job.Task) []string {
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = t.String()
	}
	return out
}
