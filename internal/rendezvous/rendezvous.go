// Package rendezvous is how the tasks of one framework find each other: which
// ports they need, which variables tell them where the others are, and how it
// shows from outside that they have joined. The package does no I/O.
package rendezvous

import (
	"fmt"
	"strconv"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// A Framework knows the rendezvous of one framework. Its methods are pure.
type Framework interface {
	// Facts do not change.
	Facts() Facts

	// Check returns what keeps a completed job from running under this
	// framework; none means that Ports and Launch may be called.
	Check(*job.Spec) problem.List

	// Ports is how many ports the place of a task must hold. The ports of a
	// role must ascend with the index.
	Ports(*job.Spec, job.Task) int

	// Launch says how a task is told about the others, once the place of
	// every task is held. The same values give the same plan. An error means
	// that the cluster lacks a task, an address or a port it was asked for.
	Launch(*job.Spec, Cluster, job.Task) (Plan, error)
}

// Facts are what the others must know of a framework, so that its name is
// nowhere but here.
type Facts struct {
	Name string

	// Success is whose exit 0 ends a run that does not say: all or a role.
	Success string

	// Gathers says that the tasks wait for each other at the start, so that
	// the limit on the rendezvous applies.
	Gathers bool

	// TakesBack says that a member that was lost can be started again while
	// the others go on.
	TakesBack bool

	// Helpers are the roles that serve the others until these have finished:
	// even an exit with 0 is wrong before.
	Helpers []string

	// Adds are roles of one task that a job need not name: its defaults hold
	// for them as for the roles that it does.
	Adds []string

	// Given are the roles that have something to run where the job gives them
	// nothing: the framework's own program, or that of the workers.
	Given []string

	// Servers is the role that the short form "servers" means.
	Servers string

	// Ranks says that the workers are ranks of MPI, which package rank starts.
	Ranks bool

	// Hangs says where a program that has raised an exception may hang.
	Hangs string

	// WaitsAtExit says that this is an exit callback of the framework's own,
	// which waits for the other tasks.
	WaitsAtExit bool
}

// A Cluster is where the tasks of one attempt are.
type Cluster map[job.Task]Member

// A Member is the place of one task: where the others reach it.
type Member struct {
	Addr  string `json:"addr"`
	Ports []int  `json:"ports,omitempty"`
}

// A Plan is what one task gets from its rendezvous.
type Plan struct {
	Env    map[string]string `json:"env,omitempty"`
	Joined *engine.Probe     `json:"joined,omitempty"` // nil: nothing shows it

	// Rank are arguments of "muster rank" (see package rank), which starts the
	// task's command then.
	Rank []string `json:"rank,omitempty"`

	// Sees are the tasks whose GPUs the task may use, itself among them: those
	// that its framework numbers together. nil: only itself.
	Sees []job.Task `json:"sees,omitempty"`
}

// A completer is a framework that implies more than a job says.
type completer interface {
	complete(*job.Spec)
}

var frameworks = []Framework{mxnet{}, byteps{}, torch{}, jax{}, tensorflow{}, mpi{}, horovod{}, tvm{}, plain{}}

// ByName returns the framework called name. The error is a problem.
func ByName(name string) (Framework, error) {
	var names []string
	for _, f := range frameworks {
		if f.Facts().Name == name {
			return f, nil
		}
		names = append(names, f.Facts().Name)
	}
	text := fmt.Sprintf("%q is not a framework; there are %s", name, strings.Join(names, ", "))
	if near := problem.Nearest(name, names); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return nil, &problem.Error{Kind: problem.Invalid, Field: "framework", Text: text}
}

// FactsOf returns the facts of the framework called name; one that ByName does
// not know is taken for plain.
func FactsOf(name string) Facts {
	f, err := ByName(name)
	if err != nil {
		return plain{}.Facts()
	}
	return f.Facts()
}

// pythonEnd is where Python programs may hang that have nothing of their own
// to wait for at the end.
const pythonEnd = "while Python was ending"

// Infer chooses the framework of a job that names none, and says why in the
// words of the command line; plain needs no reason.
func Infer(servers, workers int) (framework, why string) {
	switch {
	case servers > 0:
		return "mxnet", "from -s " + strconv.Itoa(servers)
	case workers > 1:
		return "torch", "from -n " + strconv.Itoa(workers)
	}
	return "plain", ""
}

// Complete adds to a job what its framework implies. Twice is as good as once,
// and a framework that ByName does not know implies nothing.
func Complete(s *job.Spec) {
	f, err := ByName(s.Framework.Name)
	if err != nil {
		return
	}
	if c, ok := f.(completer); ok {
		c.complete(s)
	}
}
