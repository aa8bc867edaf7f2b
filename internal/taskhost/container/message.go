//go:build linux

package container

import (
	"syscall"
	"time"
)

// A Message is what a container's first process and the task host tell each
// other, as JSON lines.
type Message struct {
	Task     string    `json:"task,omitempty"`    // who speaks; in the first one
	Started  int       `json:"started,omitempty"` // the program's pid, as the container counts
	Failed   *NotBegun `json:"failed,omitempty"`
	Ended    *Ending   `json:"ended,omitempty"`
	TornDown *TornDown `json:"torn_down,omitempty"`
	Probed   *Answer   `json:"probed,omitempty"`

	Signal string    `json:"signal,omitempty"` // from the host: pass it on
	Probe  *Question `json:"probe,omitempty"`  // from the host: run it
}

// NotBegun is why a program could not be started.
type NotBegun struct {
	Code int    `json:"code"`
	Text string `json:"text"`
}

// An Ending is how a program ended.
type Ending struct {
	Status   syscall.WaitStatus `json:"status"`
	OOMKills int                `json:"oom_kills,omitempty"` // in its container, by the kernel
}

// A TornDown is how a teardown ended.
type TornDown struct {
	Status syscall.WaitStatus `json:"status"`
	Late   bool               `json:"late,omitempty"`   // it was killed at its limit
	Failed string             `json:"failed,omitempty"` // why it could not be started
}

// A Question is a command that tells whether a task is well.
type Question struct {
	Number  int           `json:"number"` // of this question
	Argv    []string      `json:"argv"`
	Timeout time.Duration `json:"timeout"`
}

// An Answer is how such a command ended.
type Answer struct {
	Number int                `json:"number"`
	Status syscall.WaitStatus `json:"status"`
	Late   bool               `json:"late,omitempty"`
	Failed string             `json:"failed,omitempty"` // why it could not be started
	Said   string             `json:"said,omitempty"`   // the end of what it wrote
}
