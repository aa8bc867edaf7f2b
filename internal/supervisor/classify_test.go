package supervisor

import (
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

func ended(d death) engine.Instance {
	i := engine.Instance{State: engine.Exited, Ended: epoch}
	d(&i)
	return i
}

// TestMXJobTable is the table of exit codes in the MXJob operator's own words.
func TestMXJobTable(t *testing.T) {
	for code, want := range map[int]run.Class{
		1: run.Permanent, 2: run.Permanent, 126: run.Permanent, 127: run.Permanent, 128: run.Permanent, 139: run.Permanent,
		130: run.Retryable, 137: run.Retryable, 143: run.Retryable, 138: run.Retryable,
		3: run.Permanent, 134: run.Permanent, 255: run.Permanent, // undefined there
	} {
		if got, _ := classify(ended(exit(code)), nil); got != want {
			t.Errorf("code %d is %s, want %s", code, got, want)
		}
	}
}

func TestClassify(t *testing.T) {
	own := &job.Codes{Permanent: []int{137}, Retryable: []int{1, 75}}
	for _, c := range []struct {
		name  string
		death death
		codes *job.Codes
		want  run.Class
	}{
		{"a port that somebody has", func(i *engine.Instance) { i.Cause, i.Taken = engine.StartFailed, &engine.TakenPort{Port: 80} }, nil, run.Retryable},
		{"137 from a kill", signal("KILL"), nil, run.Retryable},
		{"137 with out-of-memory evidence", oom, nil, run.Permanent},
		{"a segmentation fault", signal("SEGV"), nil, run.Permanent},
		{"a termination from outside", signal("TERM"), nil, run.Retryable},
		{"an exception", raised(0, false), nil, run.Permanent},
		{"a lost host", lost, nil, run.NodeLost},
		{"preempted", func(i *engine.Instance) { i.Cause = engine.ByPreempt }, nil, run.NodeLost},
		{"evicted", func(i *engine.Instance) { i.Cause = engine.ByEvict }, nil, run.NodeLost},
		{"unhealthy", func(i *engine.Instance) { i.Cause = engine.ByHealth }, nil, run.Retryable},
		{"too much output", func(i *engine.Instance) { i.Cause = engine.ByLogLimit }, nil, run.Permanent},
		{"no such program", func(i *engine.Instance) { i.Cause, i.Code = engine.StartFailed, 127 }, nil, run.Permanent},
		{"own table: retryable", exit(75), own, run.Retryable},
		{"own table: permanent", signal("KILL"), own, run.Permanent},
		{"own table: not in it", exit(130), own, run.Permanent},
		{"own table: an exception has its exit code", raised(0, false), own, run.Retryable},
		{"own table: out of memory", oom, &job.Codes{Retryable: []int{137}}, run.Permanent},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := classify(ended(c.death), c.codes)
			if got != c.want || why == "" {
				t.Errorf("class is %s (%s), want %s with a reason", got, why, c.want)
			}
		})
	}
}
