//go:build linux

package frameworks

import (
	"strings"
	"testing"
)

// trainCurve runs the torch example as two ranks, from a bare command line.
func trainCurve(t *testing.T, args ...string) *trial {
	t.Helper()
	return start(t, need(t, "torch"), ddp, append([]string{"-n", "2", "--", "python3", "train.py"}, args...)...)
}

// The other rank fails as well, a moment later: its connection is reset.
func TestTorchRankIsKilled(t *testing.T) {
	t.Parallel()
	for _, task := range []string{"worker-0", "worker-1"} {
		t.Run(task, func(t *testing.T) {
			t.Parallel()
			tr := trainCurve(t, "--epochs", "10000", "--slow", "0.6")
			tr.await("worker-0", "epoch 1 ")
			tr.kill(task)
			tr.finish().failed(137, task, "was killed from outside (SIGKILL)")
		})
	}
}

func TestTorchRankRaises(t *testing.T) {
	t.Parallel()
	o := trainCurve(t, "--epochs", "10000", "--raise-at", "2").finish()
	o.failed(1, "worker-1", "raised ValueError: the curve is not finite")
	if end := o.ending("worker-1"); !strings.Contains(end, "Traceback") || !strings.HasSuffix(end, "ValueError: the curve is not finite") {
		t.Errorf("its end:\n%s\nwant the traceback", end)
	}
}
