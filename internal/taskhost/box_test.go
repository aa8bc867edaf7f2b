//go:build linux

package taskhost

import (
	"os"
	"path/filepath"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost/container"
)

// A setup can fail so soon that its word overtakes the container's greeting,
// which goes another way.
func TestWordBeforeGreeting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hook")
	i := job.Instance{Task: job.Task{Role: "worker", Index: 1}, Attempt: 1}
	if err := os.WriteFile(path, []byte(`{"pid": 7, "task": "`+i.String()+`", "stage": "setup", "code": 9}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	of := &task{seen: engine.Instance{Instance: i, State: engine.Starting}, launch: &engine.Launch{}, pid: os.Getpid(), box: &box{}}
	h := &host{tasks: map[job.Instance]*task{i: of}, changed: map[job.Instance]bool{}}
	h.sampler.hook = f
	h.readHook()
	if of.setup != 0 {
		t.Fatal("believed before it is known whose pid that is")
	}
	h.greetBox(nil, os.Getpid(), container.Message{Task: i.String(), Started: 7})
	if of.setup != 9 {
		t.Errorf("its setup failed with 9, and we know of %d", of.setup)
	}
}
