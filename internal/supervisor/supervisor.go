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
// about. The same arguments give the same answer. Observations must come in the
// order in which they were made; they may be late, merged or repeated.
func Next(r run.Run, seen engine.Observed, t Tick) Decision {
	r = clone(r)
	if r.Done() {
		return Decision{Run: r, Want: &engine.Desired{Fence: r.Fence, Attempt: r.Attempt}}
	}
	r.Progress.Clock += max(t.Elapsed, 0)
	if !seen.Synced {
		return Decision{Run: r}
	}
	s := newSituation(&r, seen, t)
	s.decide()
	want := s.desired() // before wake is read: it may ask to be woken
	if r.Done() {
		s.wake = 0
	}
	return Decision{Run: r, Want: want, Wake: s.wake}
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

// A situation is one decision in the making.
type situation struct {
	r       *run.Run
	p       *run.Progress
	seen    engine.Observed
	tick    Tick
	fw      rendezvous.Framework // nil if unknown
	unknown error                // this version does not know the framework
	facts   rendezvous.Facts
	tasks   []job.Task

	// current is the newest instance of each task, as far as it is there.
	current map[job.Task]engine.Instance
	alive   int // instances of any attempt that may have a process or a place
	open    int // those of which it is not known how they end
	wake    time.Duration
}

func newSituation(r *run.Run, seen engine.Observed, t Tick) *situation {
	s := &situation{r: r, p: &r.Progress, seen: seen, tick: t, tasks: r.Spec.Tasks()}
	if s.fw, s.unknown = rendezvous.ByName(r.Spec.Framework.Name); s.unknown == nil {
		s.facts = s.fw.Facts()
	}
	s.current = map[job.Task]engine.Instance{}
	for _, i := range seen.Instances {
		if !i.State.Gone() {
			s.alive++
		}
		if !i.Over() {
			s.open++
		}
		if i.Attempt == r.Attempt && i.Try == s.try(i.Task) {
			s.current[i.Task] = i
		}
	}
	s.recall()
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
	ended := map[job.Task]engine.Instance{} // in this attempt, and not yet there again
	for _, i := range s.r.Tasks {
		if i.Attempt == s.r.Attempt && i.State.Gone() {
			ended[i.Task] = i
		}
	}
	s.r.Tasks = s.r.Tasks[:0:0]
	for _, t := range s.tasks {
		i, ok := s.current[t]
		if !ok {
			i, ok = ended[t]
		}
		if ok {
			i.Usage = engine.Usage{}
			s.r.Tasks = append(s.r.Tasks, i)
		}
	}
}

// decide heeds what a person wants, then goes on with the attempt or its end.
// When an attempt is closed it looks again: what was asked for meanwhile holds now.
func (s *situation) decide() {
	for {
		s.heedIntent()
		if s.p.Ending == "" {
			s.proceed()
		}
		if s.p.Ending == "" {
			return
		}
		s.goOnEnding()
		if s.p.Ending != "" || s.r.Done() {
			return
		}
	}
}

func (s *situation) proceed() {
	if s.unknown != nil && s.r.Phase != run.Suspended {
		s.beginEnding(run.ToFail, &run.Failure{Kind: run.OfRefusal, What: s.unknown.Error(), At: s.tick.Now, Class: run.Permanent})
		return
	}
	switch s.r.Phase {
	case run.Pending, run.Restarting:
		if !s.fails(s.runLimit, s.queueLimit) {
			s.startWhenFree()
		}
	case run.Starting, run.Running:
		s.superviseAttempt()
	}
}

// superviseAttempt looks at an attempt that is under way. Success comes first:
// once the deciding tasks have succeeded, what helpers do no longer matters.
// Limits come last: they count from what this very look has found.
func (s *situation) superviseAttempt() {
	switch {
	case s.succeeded():
		s.beginEnding(run.ToSucceed, nil)
	case s.fails(s.trouble, s.choose, s.earlyExit):
	default:
		s.advance()
		s.fails(s.runLimit, s.queueLimit, s.rendezvousLimit, s.stall)
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
