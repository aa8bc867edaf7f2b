// Package engine is where tasks run. An Engine is level-based: it is told what
// should be, makes it so, and reports what is. It knows nothing of success,
// failure or restarts: those are the supervisor's.
package engine

import (
	"context"
	"time"

	"muster.dev/muster/internal/job"
)

// An Engine runs the tasks of runs in one kind of place. Its methods may be
// called from any goroutine.
type Engine interface {
	// Capabilities are the facts about this engine; they do not change.
	Capabilities() Capabilities

	// Apply makes the run's tasks match want and returns once that is under
	// way, not done. The same value again changes nothing. A fence lower than
	// one seen before is refused with a problem of kind Stale. Conflict means
	// not yet: it is asked again after the next observation. Any other error
	// ends the run, so trouble on the way to a node is none.
	Apply(ctx context.Context, run Run, want Desired) error

	// Watch calls seen with everything known of the run, at once and after
	// each change, until ctx ends or seen returns an error, which it returns.
	// It waits out trouble on the way to a node, with Synced false: any error
	// of its own ends the owner.
	// Calls never overlap; changes may be merged. Apply may be called from seen.
	Watch(ctx context.Context, run Run, seen func(Observed) error) error

	// Forget ends what the engine keeps running for a run that has no tasks
	// left, and returns when it is gone. A run it does not know is no error.
	Forget(ctx context.Context, run Run) error
}

// A LogReader is an engine whose task output can be read. Output stays
// readable after Forget.
type LogReader interface {
	// Logs returns what one stream of an instance holds after cursor, at most
	// limit bytes, and the cursor behind it; "" is the beginning. No data
	// and no error: nothing more yet.
	Logs(ctx context.Context, run Run, i job.Instance, s Stream, cursor string, limit int) (Chunk, error)

	// Instances returns those of a run that have output, in order.
	Instances(run Run) ([]job.Instance, error)

	// Dated returns when the byte at offset was written, as well as is known.
	Dated(run Run, i job.Instance, s Stream) (func(offset int64) time.Time, error)
}

// A Stream is one of the two outputs of a task.
type Stream string

// The streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// A Chunk is a piece of a stream.
type Chunk struct {
	Data   []byte
	Offset int64  // of the first byte
	Cursor string // continues behind Data
}

// Capabilities are what an engine can honour. What a job asks beyond them is
// refused at submit.
type Capabilities struct {
	Name       string
	Silence    bool // output progress is reported, so that a stall can be seen
	Containers bool
	GPUs       []string // devices, as CUDA_VISIBLE_DEVICES names them
	Slots      int      // how many tasks may run at a time; 0 for any number
	Node       Node     // what a plan takes nodes to be like
	Adds       []string // variables that tasks find besides those of their launch
}

// A Node is what the launch of a task must know of the machine that its place
// is on.
type Node struct {
	Exe    string `json:"exe"`   // our own program
	Shell  string `json:"shell"` // runs scripts
	Cores  int    `json:"cores"`
	UID    int    `json:"uid"`              // whom tasks run as
	Groups []int  `json:"groups,omitempty"` // that user's, besides the first
}

// A Run names a run to an engine and carries what its host needs from the start.
type Run struct {
	ID        string
	Dir       string // the run's own folder on the node
	Fence     int64  // the owner's
	Attached  bool   // the tasks end when the owner does
	Isolation string // auto or none
	LogLimit  int64  // bytes per instance, 0 for none

	// How tasks are ended when nobody is there to say.
	Signal string
	Grace  time.Duration
}

// A Warmer is an engine that takes long to begin with a run.
type Warmer interface {
	// Warm begins with what the first Apply of a run will need, and does not
	// wait for it. Nothing of it may outlive this process unless Apply is
	// called; cool gives it up when that will not be.
	Warm(Run) (cool func())
}

// Desired is what should be. A task it does not name should not be there.
type Desired struct {
	Fence   int64  `json:"fence"`
	Attempt int    `json:"attempt"`
	Tasks   []Want `json:"tasks"`
}

// A Want is what one task should be.
type Want struct {
	Instance job.Instance  `json:"instance"`
	State    WantState     `json:"state"`
	Ports    int           `json:"ports,omitempty"`  // how many the place needs to meet the others
	Listen   []int         `json:"listen,omitempty"` // ports that the task itself serves on; 0 for any free one
	Launch   *Launch       `json:"launch,omitempty"` // for Launched
	Signal   string        `json:"signal,omitempty"` // for Stopped
	Grace    time.Duration `json:"grace,omitempty"`  // for Stopped; then it is killed
}

// A WantState is a state that can be asked for.
type WantState string

// The wanted states. Held: hold a place and tell its address. Launched implies Held.
const (
	Held     WantState = "hold"
	Launched WantState = "run"
	Stopped  WantState = "stop"
)

// A Launch is how a task's process is started.
type Launch struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`

	// Joined says how the host can see that the task has found the others.
	Joined *Probe `json:"joined,omitempty"`

	// Health says how the host can see that the task is well; nil: it never asks.
	Health *Health `json:"health,omitempty"`

	// After is a task of the same attempt that this one waits for: until its
	// setup has succeeded. nil: it waits for none.
	After *job.Task `json:"after,omitempty"`

	// WaitsAtExit says that a program that has raised waits for the others in
	// its exit callbacks, so that they are not given long.
	WaitsAtExit bool `json:"waits_at_exit,omitempty"`

	// Teardown is run after the task's last process; nil for nothing.
	Teardown *Teardown `json:"teardown,omitempty"`

	Memory int64   `json:"memory,omitempty"` // bytes, 0 for no limit
	CPUs   float64 `json:"cpus,omitempty"`

	// Container is what the process is put into; nil for none. Dir is then ""
	// when nobody has said where to work.
	Container *Container `json:"container,omitempty"`
}

// A Teardown is a command that is run where a task ran, and as it did, once
// nothing of the task is left; it then finds in MUSTER_EXIT_CODE how that ended.
// What becomes of it changes nothing but the instance's note. It is not run for
// a task whose program could not be started.
type Teardown struct {
	Argv  []string      `json:"argv"`
	Limit time.Duration `json:"limit"` // then it is killed

	// Replica are tasks that have it together: the last to end runs it. None:
	// the task has it for itself.
	Replica []job.Task `json:"replica,omitempty"`
}

// A Probe is evidence, seen from outside, that a task has joined the others:
// it listens on a port, or has a connection to one.
type Probe struct {
	Listen  int `json:"listen,omitempty"`
	Connect int `json:"connect,omitempty"`
}
