//go:build linux

package local_test

import (
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/engine/enginetest"
	"muster.dev/muster/internal/engine/local"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost"
)

// TestIsolation has runs of one engine ask for different isolations: what one
// asked for must not become another's.
func TestIsolation(t *testing.T) {
	best := local.Probe(enginetest.Binary("muster"))[0]
	if best.Err != nil {
		t.Skipf("this machine does not give this user a %s: %v", best.Isolation, best.Err)
	}
	e := newEngine()
	for _, c := range []struct {
		id, asked string
		want      taskhost.Isolation
	}{
		{"first", "none", taskhost.NoIsolation},
		{"second", "auto", taskhost.Best()},
		{"third", "none", taskhost.NoIsolation},
		{"fourth", "", taskhost.Best()},
	} {
		r := engine.Run{ID: c.id, Dir: t.TempDir(), Fence: 1, Attached: true, Isolation: c.asked}
		hold := engine.Want{Instance: job.Instance{Task: job.Task{Role: "worker"}, Attempt: 1, Try: 1}, State: engine.Held}
		if err := e.Apply(t.Context(), r, engine.Desired{Fence: 1, Attempt: 1, Tasks: []engine.Want{hold}}); err != nil {
			t.Fatal(err)
		}
		rec, err := taskhost.ReadRecord(r.Dir)
		if err != nil || rec == nil || rec.Isolation != c.want {
			t.Errorf("%q gave %+v (%v), want %s", c.asked, rec, err, c.want)
		}
		if err := e.Forget(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}
