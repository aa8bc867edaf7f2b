package supervisor

import (
	"muster.dev/muster/internal/engine"
)

// recall adds what the record knows and the engine no longer tells, as after a
// reboot or when it has thrown old instances away. What is gone stays gone. An
// instance that had a process, and that an engine which has heard from all its
// hosts does not know, is lost; and so is a place that others were launched to
// find. Any other place can be held again.
func (s *situation) recall() {
	running := s.anyStarted()
	for _, i := range s.r.Tasks {
		running = running || s.isCurrent(i) && i.State != engine.Holding
	}
	for _, i := range s.r.Tasks {
		now, known := s.current[i.Task]
		switch {
		case !s.isCurrent(i), known && now.State.Gone():
		case i.State.Gone():
			s.current[i.Task] = i
		case !known && running:
			s.current[i.Task] = s.lose(i)
		}
	}
}

func (s *situation) isCurrent(i engine.Instance) bool {
	return i.Attempt == s.r.Attempt && i.Try == s.try(i.Task)
}

// lose is an instance that nobody knows of any more.
func (s *situation) lose(i engine.Instance) engine.Instance {
	if i.State == engine.Clearing { // it is known how it ended
		i.State = engine.Exited
		return i
	}
	i.Asked = i.Asked || s.p.Ending != ""
	i.State, i.Cause, i.Ended = engine.Lost, engine.ByLoss, s.tick.Now
	i.Detail = "its engine no longer knows of it"
	return i
}
