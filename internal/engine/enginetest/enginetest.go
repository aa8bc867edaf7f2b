//go:build linux

// Package enginetest is the conformance suite of engines: what engine.Engine
// says and what every run must be able to rely on, tried on a real one with
// real processes. Most cases submit a job and look at the verdict; after each
// one nothing of the run may be left on the machine.
package enginetest

import (
	"slices"
	"testing"

	"muster.dev/muster/internal/engine"
)

// Options are one engine, as a test wires it.
type Options struct {
	// New returns an engine that knows nothing of any run. Engines that it
	// returns may meet on the same run.
	New func() engine.Engine

	// Isolation is what the jobs ask for: auto or none.
	Isolation string

	// Memory says that resources.memory is enforced here.
	Memory bool

	// Containers puts the tasks into containers; nil for none.
	Containers *Containers

	// Host returns the pid of what runs the tasks of the run in a folder, so
	// that it can be killed. Nil: nothing stands between engine and tasks.
	Host func(runDir string) (pid int, err error)
}

// A try is one case of the suite.
type try struct {
	name string
	do   func(*bench)
}

// crowded are the cases about the number of tasks or starts, not about what
// becomes of them. A container costs as much as a hundred processes.
var crowded = []string{"200 tasks run at once", "the budget of restarts is never exceeded", "a port that stays taken fails the run"}

// Run runs the suite. Its cases share the machine, but no run.
func Run(t *testing.T, o Options) {
	for _, c := range cases() {
		if o.Containers != nil && slices.Contains(crowded, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.do(newBench(t, o))
		})
	}
}

// cases are all there are: first how runs end, then what they are given and
// held to, then what an owner may rely on.
func cases() []try { return slices.Concat(endings(), services(), contracts()) }

func endings() []try {
	return []try{
		{"success ends the helpers after the workers", success},
		{"a failure stops the rest", failureStops},
		{"the first failure is named when several die at once", firstFailure},
		{"a task killed from outside is named", killedFromOutside},
		{"a task host killed from outside loses its tasks", hostKilled},
		{"a crash is told by its signal", crash},
		{"commands that cannot be started", startErrors},
		{"a setup comes before a command that stays itself", setupFirst},
		{"a setup that fails is told apart from the command", setupFails},
		{"a setup is stopped like a command", setupStopped},
		{"a setup and a teardown are a replica's", oncePerReplica},
		{"a setup that fails keeps all of its replica from starting", setupFailsForAll},
		{"a teardown comes after every end", teardownAfter},
		{"a teardown follows a setup that fails but no command that is not there", teardownWithoutProgram},
		{"a teardown that fails is only noted", teardownFails},
		{"a teardown that does not end is killed", teardownLate},
		{"a teardown that writes too much is killed", teardownLoud},
		{"the next attempt waits for the teardown", teardownFirst},
		{"a task host killed during a teardown changes no verdict", teardownHostKilled},

		{"a failed job starts again as a whole", restartJob},
		{"checkpoints in a folder of the user's outlive attempts and the run", ownCheckpoint},
		{"a failed task starts again alone", restartTask},
		{"a failed task starts again with its role", restartRole},
		{"the budget of restarts is never exceeded", budget},
		{"a task that serves starts again whatever its code and ends by a stop", serves},
		{"a port that is taken is tried again", portTaken},
		{"a port that stays taken fails the run", portStaysTaken},
		{"tasks serve on the ports that they ask for", servesOnPorts},
		{"a port that a program has is named", portOfProgram},
		{"a port that a run has is named", portOfRun},
		{"a task that starts again has its port again", portAgain},
	}
}

func services() []try {
	return []try{
		{"mxnet tasks see their rendezvous", mxnetEnvironment},
		{"torch tasks see their rendezvous", torchEnvironment},
		{"joined shows who has found the others", joined},

		{"the rendezvous limit names the missing", rendezvousLimit},
		{"the stall limit ends a silent gang", stallLimit},
		{"the run limit ends a run", runLimit},
		{"the log limit ends a loud task", logLimit},
		{"a task that answers no more is ended", unhealthy},
		{"a command tells whether a task is well", unhealthyByCommand},
		{"the memory limit ends a task, with evidence", memoryLimit},

		{"stop asks, waits and then kills", stopGrace},
		{"a forced stop does not wait", stopForce},
		{"a task that ignores SIGTERM is killed after a failure", ignoresTerm},
		{"what a task leaves behind ends with it", strays},
		{"what a task leaves behind ends with a stop", straysStopped},
		{"suspended tasks are gone and come back", suspended},
		{"a suspended gang comes back in another size", resized},
		{"GPUs are given out whole and disjoint", devices},

		{"output is followed whole and read again", logsUnderLoad},
		{"a line without an end is kept", lastLine},
		{"200 tasks run at once", manyTasks},

		{"python that hangs after an exception is ended", pythonHang},
		{"python that hangs after sys.exit is ended with its code", pythonExitHang},
		{"python that logs a traceback is left alone", pythonGoesOn},
	}
}

func contracts() []try {
	return []try{
		{"held places start nothing", heldOnly},
		{"the same apply twice is once", applyTwice},
		{"a task that is not wanted is stopped", unwanted},
		{"watch ends when it is told to", watchEnds},
		{"forgetting an unknown run is no error", forgetUnknown},
		{"an owner with a lower fence is refused", staleFence},
		{"the next owner goes on with the same tasks", nextOwner},
		{"detached tasks outlive their owner", detachedOwnerDies},
		{"detached tasks that end alone are known later", endedAlone},
		{"attached tasks end with their owner", attachedOwnerDies},
		{"nothing outlives a killed task host", hostKilledUnderOwner},
	}
}
