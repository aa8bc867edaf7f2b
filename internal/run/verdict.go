package run

import (
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

// A Verdict is how a run ended and why. There is one per run.
type Verdict struct {
	Phase    Phase    `json:"phase"`
	Headline string   `json:"headline"` // "worker-1 raised ValueError: bad label"
	Exit     Exit     `json:"exit"`
	First    *Failure `json:"first,omitempty"`   // the first failure
	Skipped  bool     `json:"skipped,omitempty"` // it never started
}

// An Exit is the code that commands report for a run.
type Exit struct {
	Code int    `json:"code"`
	By   string `json:"by"` // task or muster
}

// Exit codes that are ours.
const (
	ExitLimit         = 124
	ExitRefused       = 125
	ExitNotExecutable = 126
	ExitNotFound      = 127
	ExitInterrupted   = 130
	ExitStopped       = 143
)

// A Class says whether the same failure is worth another try.
type Class string

// The classes.
const (
	Permanent Class = "permanent"
	Retryable Class = "retryable"
	NodeLost  Class = "lost"
)

// A FailureKind is what has failed.
type FailureKind string

// The kinds of failures.
const (
	OfTask       FailureKind = "task"
	OfEarlyExit  FailureKind = "early" // a task that should not have ended, with code 0
	OfRunLimit   FailureKind = "run-limit"
	OfQueueLimit FailureKind = "queue-limit"
	OfRendezvous FailureKind = "rendezvous"
	OfStall      FailureKind = "stall"
	OfNode       FailureKind = "node"    // what the tasks need is gone
	OfRefusal    FailureKind = "refused" // a job that this muster does not know how to run
)

// A Failure is what ended an attempt.
type Failure struct {
	Attempt  int              `json:"attempt"`
	Kind     FailureKind      `json:"kind"`
	Task     *job.Task        `json:"task,omitempty"`
	What     string           `json:"what"` // "exited with code 3", "raised ValueError: bad label"
	At       time.Time        `json:"at,omitzero"`
	Class    Class            `json:"class"`
	Why      string           `json:"why,omitempty"`      // the class in words
	Instance *engine.Instance `json:"instance,omitempty"` // as it was seen
	Missing  []job.Task       `json:"missing,omitempty"`  // for rendezvous
	// Then are the tasks that were ended because of it.
	Then []Consequence `json:"then,omitempty"`
}

// A Consequence is how another task of the gang ended after the failure.
type Consequence struct {
	Task job.Task `json:"task"`
	What string   `json:"what"`
}
