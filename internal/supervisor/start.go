package supervisor

import (
	"slices"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// startWhenFree begins the next attempt, once the run has been given what it
// needs, the backoff is over and nothing of an earlier attempt can be alive.
func (s *situation) startWhenFree() {
	waits := s.r.Phase == run.Pending && s.r.Grant == nil
	if waits || s.alive > 0 || !s.due(s.p.NotBefore) {
		return
	}
	s.r.Attempt++
	s.p.Launched, s.p.AllStarted, s.p.Joined, s.p.Early = false, 0, false, 0
	s.p.Tries, s.p.TryAt = nil, nil
	s.current = map[job.Task]engine.Instance{}
	s.enter(run.Starting, "")
}

// advance moves an attempt through its start: places, launch, all running.
func (s *situation) advance() {
	held := s.allHeld()
	switch {
	case held && !s.p.Launched && !s.earlierAlive():
		s.p.Launched = true
		if s.p.Began == 0 {
			s.p.Began, s.r.Started = max(s.p.Clock, 1), s.tick.Now
		}
	case s.p.Launched && !held && !s.anyStarted():
		s.p.Launched = false // places were lost before anything ran: hold them again
	}
	if s.allStarted() {
		if s.p.AllStarted == 0 {
			s.p.AllStarted = max(s.p.Clock, 1)
		}
		s.enter(run.Running, "")
	}
	if s.p.AllStarted != 0 && !s.p.Joined {
		s.p.Joined = len(s.missing()) == 0
	}
}

// earlierAlive says that something of an earlier attempt may be alive after
// all: a place that came late to an order which was on its way.
func (s *situation) earlierAlive() bool {
	return slices.ContainsFunc(s.seen.Instances, func(i engine.Instance) bool {
		return i.Attempt < s.r.Attempt && !i.State.Gone()
	})
}

func (s *situation) allHeld() bool {
	for _, t := range s.tasks {
		if _, ok := s.current[t]; !ok {
			return false
		}
	}
	return true
}

func (s *situation) anyStarted() bool {
	for _, i := range s.current {
		if i.State != engine.Holding {
			return true
		}
	}
	return false
}

func (s *situation) allStarted() bool {
	for _, t := range s.tasks {
		i, ok := s.current[t]
		if !ok || i.State == engine.Holding || i.State == engine.Starting {
			return false
		}
	}
	return true
}

// missing are the tasks that have not joined the others. One that ended well
// has no need to.
func (s *situation) missing() []job.Task {
	var m []job.Task
	for _, t := range s.tasks {
		if i := s.current[t]; !i.Joined && !i.Over() {
			m = append(m, t)
		}
	}
	return m
}

// desired is what the engine should bring about in the phase now reached.
func (s *situation) desired() *engine.Desired {
	d := &engine.Desired{Fence: s.r.Fence, Attempt: s.r.Attempt}
	switch {
	case s.r.Done() || s.r.Phase == run.Pending || s.r.Phase == run.Suspended:
	case s.p.Ending != "":
		d.Tasks = s.stopAll()
	case s.r.Phase == run.Starting || s.r.Phase == run.Running:
		d.Tasks = s.wants()
	}
	return d
}

// wants asks for every task of the attempt: its place until all places are
// held, then its process. A task that is being restarted alone is first ended,
// and held before it is launched: the launch needs its address.
func (s *situation) wants() []engine.Want {
	var all []engine.Want
	for _, t := range s.tasks {
		try := s.try(t)
		if old := s.earlierTry(t, try); old != nil {
			all = append(all, s.stopWant(*old))
			continue
		}
		w := engine.Want{
			Instance: job.Instance{Task: t, Attempt: s.r.Attempt, Try: try},
			State:    engine.Held,
			Ports:    s.fw.Ports(&s.r.Spec, t),
			Listen:   s.r.Spec.Roles[t.Role].Ports,
		}
		if _, held := s.current[t]; held && s.p.Launched && s.due(s.p.TryAt[t.String()]) {
			w.State = engine.Launched
		}
		all = append(all, w)
	}
	return all
}

// earlierTry returns an instance of the task's earlier tries that may be alive.
func (s *situation) earlierTry(t job.Task, try int) *engine.Instance {
	if try <= 1 {
		return nil
	}
	for n := range s.seen.Instances {
		if i := &s.seen.Instances[n]; i.Task == t && i.Attempt == s.r.Attempt && i.Try < try && !i.State.Gone() {
			return i
		}
	}
	return nil
}
