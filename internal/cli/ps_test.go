package cli

import (
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// list has a run of every kind that ps shows.
func list() []run.Run {
	silent := sample()
	silent.ID, silent.Started = "lm-c40v", noon.Add(-2*time.Hour)
	for i := range silent.Tasks {
		silent.Tasks[i].Usage.Silent = 400 * time.Second
	}
	pending := sample()
	pending.ID, pending.Phase, pending.Reason, pending.Attempt, pending.Started, pending.Tasks = "bert-2mzc", run.Pending, "1 of 2 GPUs free", 0, time.Time{}, nil
	restarting := sample()
	restarting.ID, restarting.Phase, restarting.Reason, restarting.Attempt = "again-7qqa", run.Restarting, "worker-1 exited with code 3", 2
	restarting.Tasks[3] = task("worker-1", engine.Exited)
	failed := ended(run.Failed, 1, "worker-1 raised ValueError: bad label -1")
	failed.ID, failed.Spec.Restart.Limit = "train-p7xq", 0
	failed.Origin.Code, failed.Origin.File, failed.Origin.Node = "9c1e04aa", "jobs/muster.yaml", "vm"
	failed.Spec.Roles = map[string]*job.Role{"worker": {Replicas: 4, Procs: "gpus", Resources: job.Resources{GPUs: 2}}}
	stopped := ended(run.Stopped, 143, "stopped by muster stop")
	stopped.ID = "lost-8d1a"
	return []run.Run{silent, pending, restarting, failed, stopped, ended(run.Succeeded, 0, "")}
}

func TestPsRows(t *testing.T) {
	golden(t, "ps.golden", ui.Style{}.Table(psRows(list(), false, noon)))
	golden(t, "ps_wide.golden", ui.Style{}.Table(psRows(list(), true, noon)))
}

func TestTaskRows(t *testing.T) {
	r := sample()
	r.Tasks[1].Usage = engine.Usage{CPU: 1.62, Memory: 404e6}
	r.Tasks[2] = engine.Instance{Instance: r.Tasks[2].Instance, State: engine.Holding}
	r.Tasks[3].State, r.Tasks[3].Cause, r.Tasks[3].Signal, r.Tasks[3].Pid = engine.Exited, engine.BySignal, "SEGV", 4711
	r.Tasks[3].Ended = noon
	for i := range r.Tasks {
		r.Tasks[i].Started = r.Tasks[i].Started.In(time.Local)
	}
	golden(t, "tasks.golden", ui.Style{}.Table(withoutClock(taskRows(r))))
}

// withoutClock hides a column that depends on where the test runs.
func withoutClock(rows [][]string) [][]string {
	const started = 4
	for _, row := range rows[1:] {
		if row[started] != "-" {
			row[started] = "CLOCK"
		}
	}
	return rows
}
