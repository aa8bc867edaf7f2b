package cli

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it anew):\n%s\nwant\n%s", path, got, want)
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// task is a running task of a sample.
func task(name string, state engine.State) engine.Instance {
	t, err := job.ParseTask(name)
	if err != nil {
		panic(err)
	}
	return engine.Instance{Instance: job.Instance{Task: t, Attempt: 1, Try: 1}, State: state, Started: noon.Add(-time.Minute)}
}

// sample is an MXNet run of four tasks that has been going on for a minute.
func sample() run.Run {
	r := run.Run{
		ID: "digits-k3f9", Phase: run.Running, Engine: "local", Attempt: 1, Created: noon.Add(-time.Minute), Started: noon.Add(-time.Minute),
		Spec: job.Spec{
			Name: "digits", Framework: job.Framework{Name: "mxnet"}, Restart: job.Restart{Limit: 3},
			Roles: map[string]*job.Role{"scheduler": {Replicas: 1}, "server": {Replicas: 1}, "worker": {Replicas: 2}},
		},
		Tasks: []engine.Instance{
			task("scheduler-0", engine.Running), task("server-0", engine.Running), task("worker-0", engine.Running), task("worker-1", engine.Running),
		},
	}
	return r
}

// ended is a sample that has ended.
func ended(phase run.Phase, code int, reason string) run.Run {
	r := sample()
	r.Phase, r.Reason, r.Took, r.Ended = phase, reason, 5*time.Second, noon
	r.Verdict = &run.Verdict{Phase: phase, Headline: reason, Exit: run.Exit{Code: code, By: "task"}}
	for i := range r.Tasks {
		r.Tasks[i].State = engine.Exited
	}
	return r
}
