package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// earlyHelper is how long deciding tasks may go on after a helper such as
// MXNet's scheduler has ended well: at a normal end all leave within a second;
// after that they would wait for it for ever.
const earlyHelper = 10 * time.Second

// fails looks for a reason to end the attempt and begins the ending. A task
// that is started again alone is no such reason.
func (s *situation) fails(looks ...func() *run.Failure) bool {
	for _, look := range looks {
		for f := look(); f != nil; f = look() {
			f.Attempt = s.r.Attempt
			if !s.restartsAlone(f) {
				s.beginEnding(run.ToFail, f)
				return true
			}
		}
	}
	return false
}

// trouble is what keeps the node itself from going on.
func (s *situation) trouble() *run.Failure {
	if s.seen.Trouble == "" {
		return nil
	}
	return &run.Failure{Kind: run.OfNode, What: s.seen.Trouble, At: s.tick.Now, Class: run.Permanent, Why: "the node cannot go on"}
}

// earlyExit is a task that has ended, well but too early: a helper, after a
// while in which the others may finish too, or one that should stay up.
func (s *situation) earlyExit() *run.Failure {
	for _, t := range s.tasks {
		i, ok := s.current[t]
		if !ok || !i.Over() || i.Failed() {
			continue
		}
		if s.successRule() == ruleNone {
			return s.tooEarly(i, "but with success: none it should stay up")
		}
		if !slices.Contains(s.facts.Helpers, t.Role) {
			continue
		}
		if s.p.Early == 0 {
			s.p.Early = max(s.p.Clock, 1)
		}
		if s.due(s.p.Early + earlyHelper) {
			return s.tooEarly(i, "while the others still needed it")
		}
		return nil
	}
	return nil
}

func (s *situation) tooEarly(i engine.Instance, why string) *run.Failure {
	f := s.ofInstance(i)
	f.Kind, f.What, f.Why = run.OfEarlyExit, "exited with code 0 "+why, "the program ended by itself"
	return f
}

// ofInstance describes the failure of an instance.
func (s *situation) ofInstance(i engine.Instance) *run.Failure {
	task := i.Task
	class, why := classify(i, s.r.Spec.Restart.Codes)
	i.Usage = engine.Usage{}
	if i.State == engine.Clearing {
		i.State = engine.Exited // what is told of its end is final
	}
	return &run.Failure{
		Attempt: i.Attempt, Kind: run.OfTask, Task: &task, What: Describe(i), At: failedAt(i),
		Class: class, Why: why, Instance: &i,
	}
}

// failedAt is when the failure happened, which for a program that raised and
// then took its time to end, or hung, is before its end.
func failedAt(i engine.Instance) time.Time {
	if i.Raised != nil && !i.Raised.At.IsZero() {
		return i.Raised.At
	}
	return i.Ended
}

// names lists tasks for a sentence, not all of them if they are many.
func names(ts []job.Task) string {
	const most = 6
	var out []string
	for _, t := range ts {
		if len(out) == most && len(ts) > most+1 {
			return fmt.Sprintf("%s and %d others", strings.Join(out, ", "), len(ts)-most)
		}
		out = append(out, t.String())
	}
	return strings.Join(out, ", ")
}
