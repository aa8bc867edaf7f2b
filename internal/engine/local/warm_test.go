//go:build linux

package local

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/engine/enginetest"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost"
	"muster.dev/muster/internal/taskhost/process"
)

// hold is what makes an engine start a host.
func hold() engine.Desired {
	i := job.Instance{Task: job.Task{Role: "worker"}, Attempt: 1, Try: 1}
	return engine.Desired{Fence: 1, Attempt: 1, Tasks: []engine.Want{{Instance: i, State: engine.Held}}}
}

// A host that is started early is the one that is used.
func TestWarmHostIsUsed(t *testing.T) {
	e := New(Config{Exe: enginetest.Binary("muster")})
	r := engine.Run{ID: "warm", Dir: t.TempDir(), Fence: 1, Attached: true, Isolation: "none"}
	e.Warm(r)
	n := e.node(r)
	h := <-n.warm.started
	if h == nil {
		t.Fatal("no host was started")
	}
	n.warm.started <- h
	if err := e.Apply(t.Context(), r, hold()); err != nil {
		t.Fatal(err)
	}
	rec, err := taskhost.ReadRecord(r.Dir)
	if err != nil || rec == nil || rec.Pid != h.Pid {
		t.Errorf("the host is %+v (%v), want pid %d", rec, err, h.Pid)
	}
	if err := e.Forget(t.Context(), r); err != nil {
		t.Error(err)
	}
}

// One that is given up goes, and has done nothing; the next start is another.
func TestWarmHostIsGivenUp(t *testing.T) {
	e := New(Config{Exe: enginetest.Binary("muster")})
	r := engine.Run{ID: "cool", Dir: t.TempDir(), Fence: 1, Attached: true, Isolation: "none"}
	cool := e.Warm(r)
	n := e.node(r)
	h := <-n.warm.started
	if h == nil {
		t.Fatal("no host was started")
	}
	handle := h.Record.Open()
	n.warm.started <- h
	cool()
	if handle == nil || !process.Ended(handle, time.Minute) {
		t.Fatal("it stays")
	}
	_ = handle.Close()
	files, err := filepath.Glob(filepath.Join(r.Dir, "*"))
	if want := []string{filepath.Join(r.Dir, "host.log")}; err != nil || !slices.Equal(files, want) {
		t.Errorf("it left %v (%v)", files, err)
	}
	if text, _ := os.ReadFile(files[0]); len(text) > 0 {
		t.Logf("it said %s", text)
	}
	if err := e.Apply(t.Context(), r, hold()); err != nil {
		t.Error(err)
	}
	if err := e.Forget(t.Context(), r); err != nil {
		t.Error(err)
	}
}
