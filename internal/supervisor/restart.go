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

// calm is how long a run that serves must have needed no restart to have its
// whole budget again: it has no end by which a budget could be counted.
const calm = time.Hour

// renew gives a run that serves its budget back.
func (s *situation) renew() {
	if s.successRule() == ruleNone && s.p.Clock-s.p.Charged >= calm {
		s.r.Restarts = 0
	}
}

// restartFor decides what follows a failure.
func (s *situation) restartFor(f *run.Failure) restartKind {
	s.renew()
	switch f.Kind {
	case run.OfRunLimit, run.OfQueueLimit, run.OfNode, run.OfRefusal:
		return noRestart
	}
	if portTaken(f) && !s.p.Joined && s.p.FreeRetries < portRetries {
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

// keptFailures is how many failures of earlier attempts a record keeps.
const keptFailures = 32

// charge books a restart and returns when it may begin. Other ports can be
// tried at once; a node that is lost again and again costs no budget, but time.
func (s *situation) charge(k restartKind, f *run.Failure) time.Duration {
	used := s.r.Restarts
	for _, old := range s.r.Failures {
		if old.Class == run.NodeLost {
			used++
		}
	}
	at := s.p.Clock
	switch {
	case k == chargedRestart:
		s.r.Restarts++
		s.p.Charged = s.p.Clock
		at += backoff(s.r.Spec.Restart, used)
	case portTaken(f):
		s.p.FreeRetries++
	default:
		at += backoff(s.r.Spec.Restart, used)
	}
	s.r.Failures = append(s.r.Failures, *f)
	s.r.Failures = s.r.Failures[max(0, len(s.r.Failures)-keptFailures):]
	return at
}

func portTaken(f *run.Failure) bool { return f.Instance != nil && f.Instance.PortTaken }

// backoff doubles with every restart, up to five minutes.
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
	if f.Kind != run.OfTask && f.Kind != run.OfEarlyExit || !s.facts.TakesBack {
		return false
	}
	scope := s.r.Spec.ScopeOf(f.Task.Role)
	if scope == "job" {
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
