//go:build linux

package local

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost"
)

// TestAfterAReboot: a host on record from before the machine was restarted is
// gone, and so are its tasks, whoever has its pid now.
func TestAfterAReboot(t *testing.T) {
	dir := t.TempDir()
	record := taskhost.Record{Pid: os.Getpid(), Boot: "another start of the machine", Isolation: taskhost.PIDNamespace}
	keep(t, filepath.Join(dir, taskhost.StateName), record)
	ran := engine.Instance{Instance: job.Instance{Task: job.Task{Role: "worker"}, Attempt: 1, Try: 1}, State: engine.Starting}
	ended := engine.Instance{Instance: job.Instance{Task: job.Task{Role: "worker", Index: 1}, Attempt: 1, Try: 1}, State: engine.Exited, Cause: engine.ByExit}
	keep(t, filepath.Join(dir, taskhost.JournalName), ran, ended)

	enough := errors.New("enough")
	var seen engine.Observed
	err := New(Config{}).Watch(context.Background(), engine.Run{ID: "r-1", Dir: dir}, func(o engine.Observed) error {
		seen = o
		if o.Synced {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || len(seen.Instances) != 2 {
		t.Fatalf("%v, %+v", err, seen)
	}
	if i := seen.Instances[0]; i.State != engine.Lost || i.Detail != "the machine was restarted" {
		t.Errorf("worker-0 is %s: %q", i.State, i.Detail)
	}
	if i := seen.Instances[1]; i.State != engine.Exited {
		t.Errorf("worker-1, which had ended, is %s", i.State)
	}
}

// keep writes values as lines of JSON.
func keep[V any](t *testing.T, path string, values ...V) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, v := range values {
		if err := json.NewEncoder(f).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
}
