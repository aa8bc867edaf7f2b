package supervisor

import "muster.dev/muster/internal/job"

// The success rules that are no role's name.
const (
	ruleAll  = "all"
	ruleAny  = "any"
	ruleNone = "none"
)

// successRule is whose exit 0 ends the run: the job's own word, or else the
// framework's. A role without tasks can decide nothing, so then all do.
func (s *situation) successRule() string {
	rule := s.r.Spec.Success
	if rule == "" {
		rule = s.facts.Success
	}
	switch rule {
	case ruleAll, ruleAny, ruleNone:
		return rule
	}
	if s.r.Spec.TaskCount(rule) == 0 {
		return ruleAll
	}
	return rule
}

// deciding says whether the task's end decides the run's.
func (s *situation) deciding(t job.Task) bool {
	rule := s.successRule()
	return rule == ruleAll || rule == ruleAny || rule == t.Role
}

// succeeded says that the deciding tasks have ended well: all of them, or with
// "any" one.
func (s *situation) succeeded() bool {
	deciding, well := 0, 0
	for _, t := range s.tasks {
		if !s.deciding(t) {
			continue
		}
		deciding++
		if s.endedWell(t) {
			well++
		}
	}
	if s.successRule() == ruleAny {
		return well > 0
	}
	return deciding > 0 && well == deciding
}

func (s *situation) endedWell(t job.Task) bool {
	i, ok := s.current[t]
	return ok && i.Over() && !i.Failed()
}
