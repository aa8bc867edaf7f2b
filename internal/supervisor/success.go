package supervisor

import (
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

// successRule is whose exit 0 ends the run: the job's own word, or else the
// framework's.
func (s *situation) successRule() string {
	if s.r.Spec.Success != "" {
		return s.r.Spec.Success
	}
	return s.facts.Success
}

// deciding says whether the task's end decides the run's.
func (s *situation) deciding(t job.Task) bool {
	rule := s.successRule()
	return rule == "all" || rule == "any" || rule == t.Role
}

// succeeded says that the deciding tasks have ended well: all of them, or with
// "any" one.
func (s *situation) succeeded() bool {
	n := 0
	for _, t := range s.tasks {
		if !s.deciding(t) {
			continue
		}
		n++
		i, ok := s.current[t]
		ended := ok && i.State == engine.Exited && !i.Failed()
		if ended && s.successRule() == "any" {
			return true
		}
		if !ended {
			return false
		}
	}
	return n > 0 && s.successRule() != "any"
}
