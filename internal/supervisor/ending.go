package supervisor

import (
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
)

// linger is how long helpers may take to end by themselves after the deciding
// tasks have succeeded; MXNet's server and scheduler take 0.1 s.
const linger = 3 * time.Second

// heedIntent turns what a person wants into an ending.
func (s *situation) heedIntent() {
	switch s.r.Intent.Want {
	case run.WantStop:
		if s.canStop() {
			s.beginEnding(run.ToStop, nil)
		}
	case run.WantSuspend:
		if s.p.Ending == "" && s.r.Phase != run.Suspended {
			s.beginEnding(run.ToSuspend, nil)
		}
	default:
		if s.r.Phase == run.Suspended && s.p.Ending == "" {
			s.resume()
		}
	}
}

// canStop says that a stop would change how the run ends. A run that has
// succeeded has, and one that fails, and would not be restarted, fails.
func (s *situation) canStop() bool {
	switch s.p.Ending {
	case run.ToSucceed, run.ToStop:
		return false
	case run.ToFail:
		return s.p.Chosen && s.p.Restart
	}
	return true
}

// resume lets a suspended run start again. Its limit does not count the time
// that it was suspended.
func (s *situation) resume() {
	s.p.NotBefore = 0
	if s.p.Began != 0 {
		s.p.Began += s.p.Clock - s.p.Since
	}
	s.enter(run.Pending, "")
}

func (s *situation) stopWanted() bool {
	return s.r.Intent.Want == run.WantStop
}

// beginEnding starts the end of the attempt.
func (s *situation) beginEnding(o run.Outcome, f *run.Failure) {
	s.p.Ending, s.p.EndingSince, s.p.Chosen = o, s.p.Clock, false
	s.p.Failure = f
}

// goOnEnding chooses the cause when it can be known, and finishes when nothing
// of the attempt is left.
func (s *situation) goOnEnding() {
	if !s.p.Chosen && s.accounted() {
		s.settleOutcome()
	}
	if s.alive == 0 && s.p.Chosen {
		s.finish()
	}
}

// accounted says that the cause can be chosen: it is no task's failure, or all
// have ended, or time is up.
func (s *situation) accounted() bool {
	return s.p.Ending != run.ToFail || s.p.Failure.Kind != run.OfTask || s.open == 0 || s.due(s.p.EndingSince+settle)
}

// settleOutcome makes the verdict on the attempt final.
func (s *situation) settleOutcome() {
	s.p.Chosen = true
	switch s.p.Ending {
	case run.ToFail:
		s.settleFailure()
	case run.ToSucceed:
		s.enter(run.Ending, "")
	case run.ToStop:
		s.enter(run.Ending, s.stoppedBy())
	case run.ToSuspend:
		s.enter(run.Ending, "suspended by "+orElse(s.r.Intent.By, "its user"))
	}
}

func (s *situation) stoppedBy() string { return "stopped by " + orElse(s.r.Intent.By, "its user") }

func (s *situation) settleFailure() {
	if f := s.choose(); f != nil && s.p.Failure.Kind == run.OfTask {
		f.Attempt = s.r.Attempt
		s.p.Failure = f
	}
	f := s.p.Failure
	s.p.Restart = s.restartFor(f) != noRestart
	switch {
	case s.p.Restart && s.stopWanted():
		s.p.Ending, s.p.Failure = run.ToStop, nil
		s.enter(run.Ending, s.stoppedBy())
	case s.p.Restart:
		s.enter(run.Restarting, Headline(f))
	default:
		s.enter(run.Ending, Headline(f))
	}
}

// Headline is a failure in one line.
func Headline(f *run.Failure) string {
	if f.Task != nil {
		return f.Task.String() + " " + f.What
	}
	return f.What
}

// stopAll asks every instance that may be alive to end. Helpers get time to do
// so by themselves after a success.
func (s *situation) stopAll() []engine.Want {
	lingering := s.p.Ending == run.ToSucceed && !s.stopWanted() && !s.due(s.p.EndingSince+linger)
	var all []engine.Want
	for _, i := range s.seen.Instances {
		if i.State.Gone() {
			continue
		}
		w := s.stopWant(i)
		if lingering && s.isCurrent(i) && i.State != engine.Holding && !s.deciding(i.Task) {
			w.State, w.Ports = engine.Launched, len(i.Ports)
		}
		all = append(all, w)
	}
	return all
}

func (s *situation) stopWant(i engine.Instance) engine.Want {
	w := engine.Want{Instance: i.Instance, State: engine.Stopped, Signal: s.r.Spec.Stop.SignalOr(), Grace: s.r.Spec.Stop.GraceOr()}
	if s.r.Intent.Force {
		w.Grace = 0
	}
	return w
}

// finish closes the attempt: nothing of it is left.
func (s *situation) finish() {
	o, f := s.p.Ending, s.p.Failure
	if f != nil {
		f.Then = s.consequences(f.Task)
	}
	s.p.Ending, s.p.Failure = "", nil
	switch {
	case o == run.ToFail && s.p.Restart:
		s.p.NotBefore = s.charge(s.restartFor(f), f)
		s.enter(run.Restarting, Headline(f))
	case o == run.ToSuspend:
		s.enter(run.Suspended, s.r.Reason)
	default:
		s.end(o, f)
	}
}
