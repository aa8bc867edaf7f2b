//go:build linux

package frameworks

import (
	"fmt"
	"slices"
	"testing"
)

const curve = root + "/examples/jax-curve"

// processesAreIndexes checks a run of the example.
func processesAreIndexes(o outcome) {
	o.t.Helper()
	for i := range 2 {
		task, want := fmt.Sprintf("worker-%d", i), fmt.Sprintf("process %d of 2, 2 devices", i)
		if got := o.printed(task); !slices.Contains(got, want) {
			o.t.Errorf("%s printed %q, want %q among it", task, got, want)
		}
	}
	o.kept("weights.npy")
}

// The other process hears of it from its library, which ends it.
func TestJAXProcessIsKilled(t *testing.T) {
	t.Parallel()
	tr := start(t, need(t, "jax"), curve, "--framework", "jax", "-n", "2", "--", "python", "train.py", "--steps", "10000", "--slow", "0.1")
	tr.await("worker-0", "step 10 ")
	tr.kill("worker-1")
	tr.finish().failed(137, "worker-1", "was killed from outside (SIGKILL)")
}

// JAX has a process that raises wait for the others, for minutes.
func TestJAXProcessRaises(t *testing.T) {
	t.Parallel()
	program := "import jax; jax.distributed.initialize(); import time\n" +
		"if jax.process_index() == 1: raise ValueError('bad shard')\ntime.sleep(1000)"
	tr := start(t, need(t, "jax"), curve, "--framework", "jax", "-n", "2", "--", "python", "-c", program)
	o := tr.finish()
	o.raisedAndHung(o.failed(1, "worker-1", "raised ValueError: bad shard"))
}
