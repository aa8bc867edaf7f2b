// Package run is the execution of a job: its phases, its verdict, and the
// Service through which everything outside asks for and about runs. The
// package does no I/O.
package run

import (
	"fmt"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

// A Phase is where a run stands.
type Phase string

// The phases. The last three are terminal and never change.
const (
	Pending    Phase = "Pending"
	Starting   Phase = "Starting"
	Running    Phase = "Running"
	Restarting Phase = "Restarting"
	Suspended  Phase = "Suspended"
	Ending     Phase = "Ending"
	Succeeded  Phase = "Succeeded"
	Failed     Phase = "Failed"
	Stopped    Phase = "Stopped"
)

// Done says that the phase is terminal.
func (p Phase) Done() bool { return p == Succeeded || p == Failed || p == Stopped }

// A Run is one execution of a job.
type Run struct {
	ID     string   `json:"id"`
	Spec   job.Spec `json:"spec"`
	Phase  Phase    `json:"phase"`
	Reason string   `json:"reason,omitempty"` // one line, for a person
	Engine string   `json:"engine"`

	Attempt  int `json:"attempt"`            // 0 before the first start
	Restarts int `json:"restarts,omitempty"` // charged to the budget

	Created time.Time `json:"created"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Took is from the first start to the end, without what it was suspended,
	// by a clock that cannot jump.
	Took time.Duration `json:"took,omitempty"`

	Tasks    []engine.Instance `json:"tasks,omitempty"` // the newest instance of each task
	Verdict  *Verdict          `json:"verdict,omitempty"`
	Failures []Failure         `json:"failures,omitempty"` // of earlier attempts
	Notes    []string          `json:"notes,omitempty"`    // what else a person should know

	Grant    *Grant   `json:"grant,omitempty"` // nil: it has not been given what it needs
	Machine  *Machine `json:"machine,omitempty"`
	Group    *Group   `json:"group,omitempty"`
	Needs    []Need   `json:"needs,omitempty"` // still to end before it may start
	Intent   Intent   `json:"intent,omitzero"`
	Attached bool     `json:"attached,omitempty"`
	Origin   Origin   `json:"origin,omitzero"`
	Fence    int64    `json:"fence"` // the owner's; only grows
	Rev      int64    `json:"rev"`   // of the record; only grows

	// Progress is the supervisor's memory.
	Progress Progress `json:"progress,omitzero"`
}

// Done says that the run has ended.
func (r *Run) Done() bool { return r.Phase.Done() }

// Origin is where a run came from.
type Origin struct {
	Node      string `json:"node,omitempty"`
	Boot      string `json:"boot,omitempty"`
	User      string `json:"user,omitempty"`
	Dir       string `json:"dir,omitempty"`       // the caller's
	File      string `json:"file,omitempty"`      // the job file
	RunDir    string `json:"run_dir,omitempty"`   // records, logs, outputs
	Code      string `json:"code,omitempty"`      // snapshot id, empty for in place
	CodeSize  int64  `json:"code_size,omitempty"` // bytes
	Commit    string `json:"commit,omitempty"`    // that code.git was at
	Inference string `json:"inference,omitempty"` // why this framework: "from -s 1"

	// Privileged says that the caller allowed containers power over the machine.
	Privileged bool `json:"privileged,omitempty"`
}

// CodeName is how people know the code of a run: a commit of a repository, else
// the snapshot; "" when it runs in place.
func (r *Run) CodeName() string {
	switch c := r.Spec.Code; {
	case r.Origin.Code == "":
		return ""
	case r.Origin.Commit == "" || c == nil:
		return fmt.Sprintf("@%.6s", r.Origin.Code)
	case c.Path != "":
		return fmt.Sprintf("%s@%.7s:%s", c.Git, r.Origin.Commit, c.Path)
	default:
		return fmt.Sprintf("%s@%.7s", c.Git, r.Origin.Commit)
	}
}

// An Intent is what a person wants of a run.
type Intent struct {
	Want   Want   `json:"want,omitempty"`
	Force  bool   `json:"force,omitempty"` // no grace
	Signal string `json:"signal,omitempty"`
	By     string `json:"by,omitempty"` // in words: Ctrl-C, muster stop

	// Sizes are the replicas that roles shall have from the next attempt on;
	// only a suspended run can be given others.
	Sizes map[string]int `json:"sizes,omitempty"`
}

// A Want is one of the things a person can want.
type Want string

// The wants; empty means WantRun.
const (
	WantRun     Want = "run"
	WantSuspend Want = "suspend"
	WantStop    Want = "stop"
	WantRemove  Want = "remove"
)

// Progress is what the supervisor must remember between decisions. Times are
// readings of Clock, which counts the run's own elapsed time; wall clocks jump.
type Progress struct {
	Clock      time.Duration `json:"clock"`
	Saved      int64         `json:"saved,omitempty"`       // the machine's monotonic clock when Clock was stored
	Since      time.Duration `json:"since"`                 // of the phase
	Began      time.Duration `json:"began,omitempty"`       // first launch; 0 if none
	AllStarted time.Duration `json:"all_started,omitempty"` // of this attempt; 0 if not yet
	Joined     bool          `json:"joined,omitempty"`      // all of this attempt

	Launched bool `json:"launched,omitempty"` // every place was held

	// Ending is set once this attempt is to end, Chosen once its cause is final.
	Ending      Outcome       `json:"ending,omitempty"`
	EndingSince time.Duration `json:"ending_since,omitempty"`
	Chosen      bool          `json:"chosen,omitempty"`
	Failure     *Failure      `json:"failure,omitempty"` // the cause, final once Chosen
	Restart     bool          `json:"restart,omitempty"` // another attempt follows
	NotBefore   time.Duration `json:"not_before,omitempty"`

	// Restarts of single tasks in this attempt, by name, and when they may begin.
	Tries map[string]int           `json:"tries,omitempty"`
	TryAt map[string]time.Duration `json:"try_at,omitempty"`

	// Charged is when a restart was last taken from the budget.
	Charged time.Duration `json:"charged,omitempty"`

	FreeRetries int           `json:"free_retries,omitempty"` // because of taken ports
	Early       time.Duration `json:"early,omitempty"`        // since when a helper is gone too early
}

// An Outcome is how an attempt is to end.
type Outcome string

// The outcomes.
const (
	ToSucceed Outcome = "succeed"
	ToFail    Outcome = "fail"
	ToStop    Outcome = "stop"
	ToSuspend Outcome = "suspend"
)
