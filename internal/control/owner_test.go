//go:build linux

package control_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster.dev/muster/internal/control"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/taskhost"
)

// A deserted is a detached run whose owner is to die.
type deserted struct {
	*testing.T
	plane *control.Plane
	id    string
	dir   string // the run's
	work  string // its tasks'
}

// submitDetached starts two tasks that wait for each other's gate.
func submitDetached(t *testing.T, restarts int) *deserted {
	d := &deserted{T: t, plane: newPlane(t, openSQLite), work: t.TempDir()}
	script := "echo $MUSTER_TASK $MUSTER_ATTEMPT >>starts; while ! [ -e gate ]; do sleep 0.02; done"
	r, err := d.plane.Submit(t.Context(), run.Submission{
		Origin: run.Origin{Dir: d.work}, Env: os.Environ(),
		Spec: job.Spec{
			Name: "a", Framework: job.Framework{Name: "plain"},
			Roles:   map[string]*job.Role{"worker": {Replicas: 2, Command: []string{"/bin/sh", "-c", script}}},
			Restart: job.Restart{Limit: restarts, Backoff: job.Duration(time.Millisecond)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	d.id, d.dir = r.ID, r.Origin.RunDir
	d.until("its start", func(r run.Run) bool { return r.Phase == run.Running })
	await(t, "its tasks", func() bool { return len(d.starts()) == 2 })
	return d
}

func (d *deserted) until(what string, cond func(run.Run) bool) run.Run {
	d.Helper()
	var last run.Run
	enough := errors.New("enough")
	err := d.plane.Watch(d.Context(), d.id, func(r run.Run) error {
		if last = r; cond(r) {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		d.Fatalf("waited for %s: %v; it is %s", what, err, last.Phase)
	}
	return last
}

// starts are the lines that the tasks have written at their starts, in order.
func (d *deserted) starts() []string {
	text, _ := os.ReadFile(filepath.Join(d.work, "starts"))
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	slices.Sort(lines)
	return lines
}

// owner is the pid of the process that owns the run, 0 for none.
func (d *deserted) owner() int {
	for pid := range processes("\x00own\x00", d.dir) {
		n, _ := strconv.Atoi(pid)
		return n
	}
	return 0
}

// signal sends one to a process that is known to be ours.
func (d *deserted) signal(pid int, s syscall.Signal) {
	d.Helper()
	if pid <= 1 {
		d.Fatalf("pid %d is none", pid)
	}
	if err := syscall.Kill(pid, s); err != nil {
		d.Fatal(err)
	}
}

func (d *deserted) open() {
	d.Helper()
	if err := os.WriteFile(filepath.Join(d.work, "gate"), nil, 0o644); err != nil {
		d.Fatal(err)
	}
}

func TestNextOwnerGoesOn(t *testing.T) {
	d := submitDetached(t, 0)
	first := d.owner()
	d.signal(first, syscall.SIGKILL)
	await(t, "another owner", func() bool { o := d.owner(); return o != 0 && o != first })
	d.open()
	r := d.until("its end", func(r run.Run) bool { return r.Done() })
	if r.Phase != run.Succeeded || r.Attempt != 1 || !slices.Equal(d.starts(), []string{"worker-0 1", "worker-1 1"}) {
		t.Errorf("%s in attempt %d, starts %q", r.Phase, r.Attempt, d.starts())
	}
}

// TestRescue leaves nobody who could go on with the run but those who look at
// it: its owner is stopped while its host is killed, and then killed as well.
func TestRescue(t *testing.T) {
	d := submitDetached(t, 1)
	owner := d.owner()
	d.signal(owner, syscall.SIGSTOP)
	rec, err := taskhost.ReadRecord(d.dir)
	if err != nil || rec == nil {
		t.Fatalf("no host is recorded: %v", err)
	}
	d.signal(rec.Pid, syscall.SIGKILL)
	d.signal(owner, syscall.SIGKILL)
	d.open()
	r := d.until("its end", func(r run.Run) bool { return r.Done() })
	if r.Phase != run.Succeeded || r.Attempt != 2 || r.Restarts != 0 {
		t.Errorf("%s in attempt %d after %d restarts: %s", r.Phase, r.Attempt, r.Restarts, r.Reason)
	}
	if want := []string{"worker-0 1", "worker-0 2", "worker-1 1", "worker-1 2"}; !slices.Equal(d.starts(), want) {
		t.Errorf("starts %q", d.starts())
	}
}

// TestOneOwner has a run that is owned refuse a second owner, unless that one
// takes it by force.
func TestOneOwner(t *testing.T) {
	d := submitDetached(t, 0)
	if err := d.plane.Own(t.Context(), d.id, false); err == nil {
		t.Error("a second owner was accepted")
	}
	before, owner := d.until("its start", func(run.Run) bool { return true }), d.owner()
	d.signal(owner, syscall.SIGSTOP)
	taken := make(chan error, 1)
	go func() { taken <- d.plane.Own(t.Context(), d.id, true) }()
	d.until("a new owner", func(r run.Run) bool { return r.Fence > before.Fence })
	d.signal(owner, syscall.SIGCONT)
	d.open()
	if err := <-taken; err != nil {
		t.Error(err)
	}
	r := d.until("its end", func(r run.Run) bool { return r.Done() })
	if r.Phase != run.Succeeded || r.Attempt != 1 || r.Fence != before.Fence+1 || len(d.starts()) != 2 {
		t.Errorf("%s in attempt %d, fence %d, starts %q", r.Phase, r.Attempt, r.Fence, d.starts())
	}
}
