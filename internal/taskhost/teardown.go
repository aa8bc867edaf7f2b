//go:build linux

package taskhost

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/taskhost/container"
	"muster.dev/muster/internal/taskhost/process"
)

// An aftermath is what is done once nothing of a task is left, before it counts
// as gone.
type aftermath struct {
	begun, done bool
	pid         int           // of what runs now; 0 for none
	was         int           // the same, also when it has ended
	until       time.Duration // of the sampler's clock: then it is killed
	late        bool          // it was
	loud        bool          // because of its output
}

// tearDown begins a task's teardown when it is time to. It says whether that is
// under way. In a container the first process sees to it.
func (h *host) tearDown(t *task) bool {
	d := t.launch.Teardown
	switch {
	case d == nil || t.after.done:
		return false
	case t.box != nil:
		if t.after.loud {
			h.noteTeardown(t, container.TornDown{})
		} else if t.box.said.Started != 0 {
			t.note("its teardown did not end: its container did")
		}
		return false
	case t.after.begun || !h.lastOfReplica(t):
		return t.after.pid != 0
	}
	t.after.begun = true
	pid, err := h.startTeardown(t)
	if err != nil {
		t.note("its teardown could not be started: " + err.Error())
		return false
	}
	h.reaper.Forked()
	t.group.Add(pid)
	t.after.pid, t.after.was = pid, pid
	h.asides[pid] = func(x process.Exit) {
		t.after.pid, t.after.done = 0, true
		h.noteTeardown(t, container.TornDown{Status: x.Status, Late: t.after.late})
	}
	h.clearing(t, d.Limit)
	return true
}

// startTeardown starts it in a control group of its own: that of a task which
// ran out of memory may still be full for a while.
func (h *host) startTeardown(t *task) (int, error) {
	l := t.launch
	t.group.Remove()
	var err error
	if t.group, err = process.NewCgroup(h.run, t.seen.Instance.String()+"-teardown", l.Memory, l.CPUs); err != nil {
		return 0, err
	}
	env := append(hookEnv(l.Env, h.config.Dir, t.seen.Instance), fmt.Sprintf("%s=%d", container.ExitVariable, h.replicaExit(t)))
	return h.spawner.Start(process.Command{
		Argv: l.Teardown.Argv, Env: env, Dir: l.Dir, CgroupFD: t.group.FD(), Stdout: t.out, Stderr: t.err,
	})
}

// clearing makes it known how a task's program ended while its teardown still
// runs: the others need not wait for that.
func (h *host) clearing(t *task, limit time.Duration) {
	t.seen.State, t.after.until = engine.Clearing, h.sampler.clock+limit
	if err := h.journal.write(t.seen); err != nil {
		h.inTrouble(err)
	}
	crash.Point("host.teardown")
	h.mark(t)
}

// watchTeardown dates what a teardown writes and holds it to its limits.
func (h *host) watchTeardown(t *task) {
	h.date(t)
	t.after.loud = t.after.loud || h.over(t)
	if !t.after.loud && h.sampler.clock < t.after.until {
		return
	}
	t.after.late = true
	if t.box != nil {
		h.killBox(t)
		return
	}
	if pid := t.after.pid; pid != 0 {
		tree := process.Descendants(pid)
		process.KillGroup(syscall.SIGKILL, pid)
		process.Kill(syscall.SIGKILL, tree...)
		t.group.Kill()
	}
}

// noteTeardown keeps what a person should know of how a teardown ended.
func (h *host) noteTeardown(t *task, d container.TornDown) {
	switch {
	case d.Failed != "":
		t.note("its teardown could not be started: " + d.Failed)
	case t.after.loud:
		t.note("its teardown wrote more than logs.limit allows and was killed")
	case d.Late:
		t.note(fmt.Sprintf("its teardown did not end within %s and was killed", t.launch.Teardown.Limit))
	case exitCode(d.Status) != 0:
		t.note(fmt.Sprintf("its teardown failed with code %d", exitCode(d.Status)))
	}
}

func (t *task) note(text string) { t.seen.Note = text }

// lastOfReplica says that no other process of the task's replica runs.
func (h *host) lastOfReplica(t *task) bool {
	for i, other := range h.tasks {
		if other != t && i.Attempt == t.seen.Attempt && other.pid != 0 && !other.decided && slices.Contains(t.launch.Teardown.Replica, i.Task) {
			return false
		}
	}
	return true
}

// replicaExit is the code of the first process of the task's replica to fail.
func (h *host) replicaExit(t *task) int {
	first := t
	for i, other := range h.tasks {
		if i.Attempt != t.seen.Attempt || !slices.Contains(t.launch.Teardown.Replica, i.Task) || !other.decided || other.exit == 0 {
			continue
		}
		if first.exit == 0 || other.seen.Ended.Before(first.seen.Ended) {
			first = other
		}
	}
	return first.exit
}
