package engine

import (
	"time"

	"muster.dev/muster/internal/job"
)

// Observed is everything an engine knows of a run.
type Observed struct {
	// Synced is false until every recorded host has answered or is known to
	// be gone. Until then nothing may be concluded from what is missing.
	Synced    bool       `json:"synced"`
	Instances []Instance `json:"instances"`

	// Nodes has every node that an instance holds a place on, by Instance.Node.
	Nodes map[string]Node `json:"nodes,omitempty"`

	// Trouble is what keeps the node itself from going on, in words: a full disk.
	Trouble string `json:"trouble,omitempty"`
}

// A State is where an instance stands.
type State string

// The states, in the order in which an instance passes them.
const (
	Holding  State = "held"
	Starting State = "starting"
	Running  State = "running"
	Stopping State = "stopping"
	Clearing State = "teardown" // its program has ended, with a cause; what comes after has not
	Exited   State = "exited"
	Lost     State = "lost"
)

// Gone says that no process of the instance can be alive.
func (s State) Gone() bool { return s == Exited || s == Lost }

// A Cause is why an instance is gone.
type Cause string

// The causes.
const (
	ByExit      Cause = "exit"
	BySignal    Cause = "signal"
	ByOOM       Cause = "oom"
	ByPreempt   Cause = "preempted"
	ByEvict     Cause = "evicted"
	ByLoss      Cause = "lost"
	StartFailed Cause = "start-failed"
	ByLogLimit  Cause = "log-limit"
	ByHealth    Cause = "unhealthy"
)

// An Instance is what is known of one start of a task.
type Instance struct {
	job.Instance
	State State  `json:"state"`
	Node  string `json:"node,omitempty"`
	Addr  string `json:"addr,omitempty"`
	Ports []int  `json:"ports,omitempty"`
	Pid   int    `json:"pid,omitempty"`

	// Listen are the ports that the task serves on, in the order in which they
	// were wanted; Taken is one that it was to have and could not be given.
	Listen []int      `json:"listen,omitempty"`
	Taken  *TakenPort `json:"taken,omitempty"`

	Joined  bool      `json:"joined,omitempty"` // the probe has succeeded
	Ready   bool      `json:"ready,omitempty"`  // its last health probe has succeeded
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`

	Cause  Cause  `json:"cause,omitempty"`
	Code   int    `json:"code"`             // for exit and start-failed
	Signal string `json:"signal,omitempty"` // KILL, for signal and oom
	Detail string `json:"detail,omitempty"` // evidence, in words

	Note string `json:"note,omitempty"` // what else a person should know of it

	// Asked says that we had asked it to stop before it ended.
	Asked bool `json:"asked,omitempty"`

	// Raised is the exception that ended the program, if it said so.
	Raised *Exception `json:"raised,omitempty"`

	// PortTaken says that it ended because a port of its was in use.
	PortTaken bool `json:"port_taken,omitempty"`

	Usage Usage `json:"usage,omitzero"`
}

// A TakenPort is a port that somebody else has.
type TakenPort struct {
	Port int    `json:"port"`
	By   string `json:"by,omitempty"` // in words, as far as it can be known
}

// An Exception is what a program raised and did not catch.
type Exception struct {
	Type string    `json:"type"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
	// Hung says that the program did not end by itself afterwards and was
	// ended by its host, After that long.
	Hung  bool          `json:"hung,omitempty"`
	After time.Duration `json:"after,omitempty"`
}

// Usage changes all the time; it is reported at most every few seconds and
// never stored.
type Usage struct {
	Silent time.Duration `json:"silent,omitempty"` // since its last output
	CPU    float64       `json:"cpu"`              // cores in use
	Memory int64         `json:"memory,omitempty"`
	Output int64         `json:"output,omitempty"` // bytes written
}

// Over says that the instance's program has ended, so that it is known how,
// though what comes after it may not have.
func (i Instance) Over() bool { return i.State.Gone() || i.State == Clearing }

// Failed says that the instance's program has ended in a way that is no success.
func (i Instance) Failed() bool {
	return i.State == Lost || i.Over() && (i.Cause != ByExit || i.Code != 0)
}
