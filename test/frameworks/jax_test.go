//go:build linux

package frameworks

import (
	"slices"
	"testing"
)

const curve = root + "/examples/jax-curve"

// fitCurve runs the JAX example as two processes, from a bare command line.
func fitCurve(t *testing.T, args ...string) *trial {
	t.Helper()
	t.Parallel()
	return start(t, need(t, "jax"), curve, append([]string{"--framework", "jax", "-n", "2", "--", "python", "train.py"}, args...)...)
}

func TestJAXProcessIsTheIndex(t *testing.T) {
	o := fitCurve(t).finish()
	o.succeeded()
	for i, want := range []string{"process 0 of 2, 2 devices", "process 1 of 2, 2 devices"} {
		task := []string{"worker-0", "worker-1"}[i]
		if got := o.printed(task); !slices.Contains(got, want) {
			t.Errorf("%s printed %q, want %q among it", task, got, want)
		}
	}
	o.kept("weights.npy")
}

// The other process hears of it from the coordinator, and is ended by its own
// library.
func TestJAXProcessRaises(t *testing.T) {
	o := fitCurve(t, "--raise-at", "5").finish()
	o.failed(1, "worker-1", "raised ValueError: the curve is not smooth")
}

func TestJAXProcessIsKilled(t *testing.T) {
	tr := fitCurve(t, "--steps", "10000", "--slow", "0.1")
	tr.await("worker-0", "step 10 ")
	tr.kill("worker-1")
	tr.finish().failed(137, "worker-1", "was killed from outside (SIGKILL)")
}
