package supervisor

import (
	"time"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// portRetries is how often an attempt that died of a taken port, before its
// tasks had joined, is repeated on other ports at no cost.
const portRetries = 3

// A restartKind says whether and at whose cost a failure is followed by another try.
type restartKind int

const (
	noRestart restartKind = iota
	freeRestart
	chargedRestart
)

// restartFor decides what follows a failure.
func (s *situation) restartFor(f *run.Failure) restartKind {
	if f.Kind == kindRun || f.Kind == kindNode {
		return noRestart
	}
	if f.Instance != nil && f.Instance.PortTaken && !s.p.Joined && s.p.FreeRetries < portRetries {
		return freeRestart
	}
	b := s.r.Spec.Restart
	switch {
	case b.Limit == 0:
		return noRestart
	case f.Class == run.NodeLost:
		return freeRestart
	case s.r.Restarts >= b.Limit:
		return noRestart
	case s.when(f) == "retryable" && f.Class != run.Retryable:
		return noRestart
	}
	return chargedRestart
}

func (s *situation) when(f *run.Failure) string {
	if f.Task == nil {
		return s.r.Spec.WhenOf("")
	}
	return s.r.Spec.WhenOf(f.Task.Role)
}

// charge books a restart and returns when it may begin.
func (s *situation) charge(k restartKind, f *run.Failure) time.Duration {
	wait := backoff(s.r.Spec.Restart, s.r.Restarts)
	if k == chargedRestart {
		s.r.Restarts++
	} else {
		s.p.FreeRetries++
	}
	if f.Instance != nil && f.Instance.PortTaken && k == freeRestart {
		wait = 0
	}
	s.r.Failures = append(s.r.Failures, *f)
	return s.p.Clock + wait
}

// backoff doubles with every charged restart, up to five minutes.
func backoff(r job.Restart, used int) time.Duration {
	d := r.Backoff.D()
	if d == 0 {
		d = job.DefaultBackoff
	}
	for range used {
		if d *= 2; d >= job.MaxBackoff {
			break
		}
	}
	return min(d, max(job.MaxBackoff, r.Backoff.D()))
}

// restartsAlone restarts the failed task, or its role, inside the attempt when
// the job says so and may; the rest of the gang goes on.
func (s *situation) restartsAlone(f *run.Failure) bool {
	scope := s.r.Spec.ScopeOf(f.Task.Role)
	if scope == "job" || !s.facts.TakesBack {
		return false
	}
	k := s.restartFor(f)
	if k == noRestart {
		return false
	}
	at := s.charge(k, f)
	if s.p.Tries == nil {
		s.p.Tries, s.p.TryAt = map[string]int{}, map[string]time.Duration{}
	}
	for _, t := range s.tasks {
		if t == *f.Task || scope == "role" && t.Role == f.Task.Role {
			s.p.Tries[t.String()]++
			s.p.TryAt[t.String()] = at
			delete(s.current, t)
		}
	}
	s.r.Reason = f.Task.String() + " " + f.What + "; it is started again"
	s.at(at)
	return true
}
