package supervisor

import (
	"maps"
	"slices"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
)

// A Tick is the time that the caller gives. Elapsed counts from its last call;
// Now is written into the record for people and never compared.
type Tick struct {
	Elapsed time.Duration
	Now     time.Time
}

// A Decision is what follows from what was seen.
type Decision struct {
	Run run.Run

	// Want is what the engine should bring about; nil when nothing may be
	// concluded yet and the engine should be left as it is.
	Want *engine.Desired

	// Wake is when to ask again if nothing is seen before; 0 for never.
	Wake time.Duration
}

// Next returns the run as it now stands and what its engine should bring
// about. The same arguments give the same answer.
func Next(r run.Run, seen engine.Observed, t Tick) Decision {
	r = clone(r)
	r.Progress.Clock += t.Elapsed
	if r.Done() {
		return Decision{Run: r, Want: &engine.Desired{Attempt: r.Attempt}}
	}
	if !seen.Synced {
		return Decision{Run: r}
	}
	fw, err := rendezvous.ByName(r.Spec.Framework.Name)
	if err != nil {
		return Decision{Run: refuse(r, err, t)}
	}
	s := newSituation(&r, seen, t, fw)
	s.decide()
	return Decision{Run: r, Want: s.desired(), Wake: s.wake}
}

// clone copies what a decision may write to, so that the caller's value stays.
func clone(r run.Run) run.Run {
	r.Progress.Tries = maps.Clone(r.Progress.Tries)
	r.Progress.TryAt = maps.Clone(r.Progress.TryAt)
	r.Failures = slices.Clone(r.Failures)
	r.Tasks = slices.Clone(r.Tasks)
	if r.Progress.Failure != nil {
		f := *r.Progress.Failure
		r.Progress.Failure = &f
	}
	return r
}

// refuse ends a run that no supervisor of this version can carry out.
func refuse(r run.Run, err error, t Tick) run.Run {
	r.Phase, r.Reason, r.Ended = run.Failed, err.Error(), t.Now
	r.Verdict = &run.Verdict{Phase: run.Failed, Headline: err.Error(), Exit: run.Exit{Code: run.ExitRefused, By: "muster"}}
	return r
}

// A situation is one decision in the making.
type situation struct {
	r     *run.Run
	p     *run.Progress
	seen  engine.Observed
	tick  Tick
	fw    rendezvous.Framework
	facts rendezvous.Facts
	tasks []job.Task

	// current is the newest instance of each task, as far as it is there.
	current map[job.Task]engine.Instance
	alive   int // instances of any attempt that may have a process or a place
	wake    time.Duration
}

func newSituation(r *run.Run, seen engine.Observed, t Tick, fw rendezvous.Framework) *situation {
	s := &situation{r: r, p: &r.Progress, seen: seen, tick: t, fw: fw, facts: fw.Facts(), tasks: r.Spec.Tasks()}
	s.current = map[job.Task]engine.Instance{}
	for _, i := range seen.Instances {
		if !i.State.Gone() {
			s.alive++
		}
		if i.Attempt == r.Attempt && i.Try == s.try(i.Task) {
			s.current[i.Task] = i
		}
	}
	s.record()
	return s
}

// try is the number of the task's newest start in this attempt.
func (s *situation) try(t job.Task) int { return s.p.Tries[t.String()] + 1 }

// record keeps the newest instance of each task in the run, without the usage
// that changes all the time.
func (s *situation) record() {
	if len(s.current) == 0 {
		return
	}
	s.r.Tasks = s.r.Tasks[:0:0]
	for _, t := range s.tasks {
		if i, ok := s.current[t]; ok {
			i.Usage = engine.Usage{}
			s.r.Tasks = append(s.r.Tasks, i)
		}
	}
}

func (s *situation) decide() {
	s.heedIntent()
	if s.p.Ending != "" {
		s.goOnEnding()
		return
	}
	switch s.r.Phase {
	case run.Pending, run.Restarting:
		s.startWhenFree()
	case run.Starting, run.Running:
		s.superviseAttempt()
	}
}

// superviseAttempt looks at an attempt that is under way. Success comes first:
// once the deciding tasks have succeeded, what helpers do no longer matters.
func (s *situation) superviseAttempt() {
	switch {
	case s.succeeded():
		s.beginEnding(run.ToSucceed, nil)
	case s.failed(): // which has begun the ending
	default:
		s.advance()
	}
}

// advance moves an attempt through its start: places, launch, all running.
func (s *situation) advance() {
	if !s.p.Launched && s.allHeld() {
		s.p.Launched = true
		if s.p.Began == 0 {
			s.p.Began, s.r.Started = max(s.p.Clock, 1), s.tick.Now
		}
	}
	if s.p.AllStarted == 0 && s.allStarted() {
		s.p.AllStarted = max(s.p.Clock, 1)
		s.enter(run.Running, "")
	}
	if s.p.AllStarted != 0 && !s.p.Joined {
		s.p.Joined = len(s.missing()) == 0
	}
}

// enter changes the phase and remembers since when.
func (s *situation) enter(p run.Phase, reason string) {
	if s.r.Phase != p {
		s.p.Since = s.p.Clock
	}
	s.r.Phase, s.r.Reason = p, reason
}

// at asks to be woken when the run's clock reads t.
func (s *situation) at(t time.Duration) {
	d := max(t-s.p.Clock, time.Millisecond)
	if s.wake == 0 || d < s.wake {
		s.wake = d
	}
}

// due says whether the clock has reached t and else asks to be woken then.
func (s *situation) due(t time.Duration) bool {
	if s.p.Clock >= t {
		return true
	}
	s.at(t)
	return false
}
