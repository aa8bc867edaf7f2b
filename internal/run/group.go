package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"muster.dev/muster/internal/job"
)

// A Group is what runs that were submitted together share. It is kept in each
// of them: a group has no record and no owner of its own.
type Group struct {
	ID            string `json:"id"`
	Job           string `json:"job"` // this run's name in the group
	MaxParallel   int    `json:"max_parallel,omitempty"`
	StopOnFailure bool   `json:"stop_on_failure,omitempty"`
	// Needs are all that this run ever needed. Those of the run itself are what
	// it still waits for.
	Needs []Need `json:"needs,omitempty"`
}

// A Need is a run that must have ended before this one may start.
type Need struct {
	Run string `json:"run"`
	Job string `json:"job"` // its name in the group
	// Whatever says that any end will do; else it must succeed.
	Whatever bool `json:"whatever,omitempty"`
}

// Groups is a Service that takes several jobs at once.
type Groups interface {
	// SubmitGroup accepts all jobs or none. They are carried out whatever
	// happens to the caller.
	SubmitGroup(ctx context.Context, g GroupSubmission) ([]Run, error)
}

// A GroupSubmission is a group of jobs on their way to becoming runs.
type GroupSubmission struct {
	Group job.Group
	Jobs  map[string]Submission // the job of each name
}

// Fold is the verdict on a group: its phase, why, and the exit code, which is
// that of the first job that failed.
func Fold(runs []Run) (Phase, string, Exit) {
	ended := slices.Clone(runs)
	slices.SortStableFunc(ended, func(a, b Run) int { return cmp.Or(a.Ended.Compare(b.Ended), cmp.Compare(a.ID, b.ID)) })
	var stopped *Run
	for i := range ended {
		r := &ended[i]
		switch {
		case !r.Done():
			return Running, "", Exit{}
		case r.Phase == Stopped && stopped == nil && !r.Skipped():
			stopped = r
		}
	}
	for _, r := range ended {
		if r.Phase == Failed {
			return Failed, fmt.Sprintf("%s failed: %s", r.Group.Job, r.Reason), r.Verdict.Exit
		}
	}
	if stopped != nil {
		return Stopped, stopped.Group.Job + " was " + stopped.Reason, stopped.Verdict.Exit
	}
	return Succeeded, fmt.Sprintf("all %d jobs succeeded", len(runs)), Exit{By: "task"}
}

// Skipped says that the run never started, because what it needed did not
// come about.
func (r *Run) Skipped() bool { return r.Verdict != nil && r.Verdict.Skipped }
