package run

import "context"

// A Planner is a Service that can say what Submit would do.
type Planner interface {
	// Plan returns what would be started, or why Submit would refuse it. It
	// changes nothing and executes nothing.
	Plan(ctx context.Context, s Submission) (Plan, error)
}

// A Plan is a run as it would be. What is only known later, such as ports, is
// in angle brackets.
type Plan struct {
	Run   Run // complete, with what its framework implies
	Tasks []PlannedTask
	Notes []string // what the job says and this place does not use
	Adds  []string // variables that every task finds besides those of its Env
}

// A PlannedTask is one task as it would be started.
type PlannedTask struct {
	Task     string
	Setup    string // a script that comes first; "" for none
	Teardown string // a script that comes last; "" for none
	Command  []string
	Dir      string   // where it works; "" is its image's
	Env      []string // what is added to the environment it inherits
	Ports    int      // how many it is given to meet the others
	Listen   []int    // what it serves on; 0 is a free one
	Image    string
	GPUs     int
}
