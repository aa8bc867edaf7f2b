package supervisor

import (
	"fmt"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// runLimit is a run that takes longer than its limit, all attempts together.
func (s *situation) runLimit() *run.Failure {
	limit := s.r.Spec.Limits.Run
	if limit == 0 || s.p.Began == 0 || !s.due(s.p.Began+limit.D()) {
		return nil
	}
	return &run.Failure{
		Kind: run.OfRunLimit, At: s.tick.Now, Class: run.Permanent, Why: "the limit is for all attempts together",
		What: fmt.Sprintf("the run took longer than limits.run, %s", limit),
	}
}

// queueLimit is a run that waits too long for what it needs.
func (s *situation) queueLimit() *run.Failure {
	limit := s.r.Spec.Limits.Queue
	queued := s.r.Phase == run.Pending || s.r.Phase == run.Starting && !s.p.Launched
	if limit == 0 || !queued || !s.due(s.p.Since+limit.D()) {
		return nil
	}
	what := fmt.Sprintf("the run waited longer than limits.queue, %s", limit)
	if s.r.Reason != "" {
		what += ": " + s.r.Reason
	}
	return &run.Failure{Kind: run.OfQueueLimit, At: s.tick.Now, Class: run.Retryable, Why: "there may be room later", What: what}
}

// rendezvousLimit is a gang whose tasks do not find each other in time.
func (s *situation) rendezvousLimit() *run.Failure {
	if !s.facts.Gathers || s.p.AllStarted == 0 || s.p.Joined {
		return nil
	}
	limit := s.r.Spec.Limits.RendezvousOr()
	missing := s.missing()
	if s.r.Spec.Framework.Inferred && len(missing) == len(s.tasks) {
		return nil // nobody named the framework, and nothing shows that the program uses it
	}
	if len(missing) == 0 || !s.due(s.p.AllStarted+limit) {
		return nil
	}
	return &run.Failure{
		Kind: run.OfRendezvous, Missing: missing, At: s.tick.Now, Class: run.Retryable, Why: "it may go better the next time",
		What: fmt.Sprintf("%s did not join the others within limits.rendezvous, %s", names(missing), job.Duration(limit)),
	}
}

// stall is a gang of which nobody has written anything for too long. CPU is
// evidence and no condition: programs that wait for each other often spin.
func (s *situation) stall() *run.Failure {
	limit := s.r.Spec.Limits.Stall.D()
	if limit == 0 {
		return nil
	}
	least, longest := time.Duration(-1), engine.Instance{}
	for _, t := range s.tasks {
		i, ok := s.current[t]
		if !ok || i.State != engine.Running {
			continue
		}
		if least < 0 || i.Usage.Silent < least {
			least = i.Usage.Silent
		}
		if i.Usage.Silent > longest.Usage.Silent {
			longest = i
		}
	}
	if least < 0 {
		return nil
	}
	if least < limit {
		s.at(s.p.Clock + limit - least)
		return nil
	}
	f := s.ofInstance(longest)
	f.Kind, f.At, f.Class, f.Why = run.OfStall, s.tick.Now, run.Retryable, "it may go better the next time"
	f.What = fmt.Sprintf("was silent longest (%s, cpu %.0f%%), and no task wrote anything for limits.stall, %s",
		longest.Usage.Silent.Round(time.Second), 100*longest.Usage.CPU, job.Duration(limit))
	return f
}
