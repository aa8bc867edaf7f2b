//go:build linux

package taskhost

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost/process"
)

// A task is one instance on this host.
type task struct {
	seen   engine.Instance
	launch *engine.Launch
	ports  []process.Port
	pid    int // of its main process; 0 when there is none
	ended  *process.Exit

	out, err *os.File
	index    *os.File
	sizes    [2]int64
	lastLoud time.Duration // of the sampler's clock: its last output
	meter    process.Meter
	group    *process.Cgroup

	killAt    time.Time // when grace is over; zero when not being stopped
	hook      *hookRecord
	hangUntil time.Time // when a program that raised is given up
	hung      bool
	overLimit string
}

// apply makes the tasks match want.
func (h *host) apply(want *engine.Desired) {
	wanted := map[job.Instance]bool{}
	h.hold(want.Tasks)
	for _, w := range want.Tasks {
		wanted[w.Instance] = true
		t := h.tasks[w.Instance]
		switch {
		case w.State == engine.Stopped && t != nil:
			h.stop(t, w.Signal, w.Grace)
		case w.State == engine.Launched && t != nil && t.seen.State == engine.Holding && w.Launch != nil:
			// Without a launch its owner has yet to learn of this place: it may
			// have been given to a host before us, with other ports.
			h.start(t, w.Launch)
		}
	}
	for i, t := range h.tasks {
		if !wanted[i] && !t.seen.State.Gone() {
			h.stop(t, h.config.Signal, h.config.Grace)
		}
	}
}

// hold makes places for the instances that have none. Ports are taken together
// and given out in order, so that they ascend with the index.
func (h *host) hold(wants []engine.Want) {
	var fresh []engine.Want
	need := 0
	for _, w := range wants {
		if w.State != engine.Stopped && h.tasks[w.Instance] == nil {
			fresh = append(fresh, w)
			need += w.Ports
		}
	}
	if len(fresh) == 0 {
		return
	}
	ports, err := process.HoldPorts(need)
	node, _ := os.Hostname()
	for _, w := range fresh {
		t := &task{seen: engine.Instance{Instance: w.Instance, State: engine.Holding, Node: node, Addr: "127.0.0.1"}}
		h.tasks[w.Instance] = t
		h.mark(t)
		if err != nil {
			h.startFailed(t, &process.StartError{Code: 125, Text: err.Error()})
			continue
		}
		t.ports, ports = ports[:w.Ports:w.Ports], ports[w.Ports:]
		t.seen.Ports = process.Numbers(t.ports)
	}
}

func (h *host) mark(t *task) { h.changed[t.seen.Instance] = true }

// start launches a held task.
func (h *host) start(t *task, l *engine.Launch) {
	if len(l.Argv) == 0 {
		h.startFailed(t, &process.StartError{Code: 125, Text: "there is nothing to run"})
		return
	}
	t.launch = l
	t.seen.State, t.seen.Started = engine.Starting, h.clock.now()
	err := h.journal.write(t.seen)
	crash.Point("host.start-journaled")
	if err == nil {
		err = h.openLogs(t)
	}
	if err == nil {
		t.group, err = process.NewCgroup(h.run, t.seen.Instance.String(), l.Memory, l.CPUs)
	}
	if err == nil {
		t.pid, err = h.spawner.Start(process.Command{
			Argv: l.Argv, Env: hookEnv(l.Env, h.config.Dir, t.seen.Instance), Dir: l.Dir,
			Stdout: t.out, Stderr: t.err, CgroupFD: t.group.FD(),
		})
	}
	if err != nil {
		h.startFailed(t, err)
		return
	}
	crash.Point("host.spawned")
	h.reaper.Forked()
	t.group.Add(t.pid)
	h.byPid[t.pid] = t
	t.lastLoud = h.sampler.clock
	t.seen.State, t.seen.Pid = engine.Running, t.pid
	t.seen.Joined = l.Joined == nil
	h.mark(t)
}

func (h *host) startFailed(t *task, err error) {
	t.seen.Cause, t.seen.Code, t.seen.Detail = engine.StartFailed, 126, err.Error()
	var se *process.StartError
	if errors.As(err, &se) {
		t.seen.Code = se.Code
	}
	h.gone(t)
}

func (h *host) openLogs(t *task) error {
	dir := LogDir(h.config.Dir, t.seen.Instance)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, f := range map[string]**os.File{"stdout": &t.out, "stderr": &t.err, "index": &t.index} {
		var err error
		*f, err = os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("keep its output: %w", err)
		}
	}
	return nil
}

// stop asks a task to end; asking again only shortens the grace.
func (h *host) stop(t *task, signal string, grace time.Duration) {
	if t.seen.State.Gone() {
		return
	}
	if t.pid == 0 { // it only has a place
		process.Release(t.ports)
		delete(h.tasks, t.seen.Instance)
		h.dropped = append(h.dropped, t.seen.Instance)
		return
	}
	until := time.Now().Add(grace)
	if t.killAt.IsZero() {
		t.seen.Asked = true
		t.seen.State = engine.Stopping
		h.mark(t)
		process.KillGroup(process.SignalNumber(signal), t.pid)
		t.killAt = until
	}
	if until.Before(t.killAt) {
		t.killAt = until
	}
	if !time.Now().Before(t.killAt) {
		h.kill(t)
	}
}

func (h *host) stopAll(signal string, grace time.Duration) {
	for _, t := range h.tasks {
		h.stop(t, signal, grace)
	}
}

// kill ends a task and what it has started, wherever that has put itself.
func (h *host) kill(t *task) {
	tree := process.Descendants(t.pid)
	process.KillGroup(syscall.SIGKILL, t.pid)
	process.Kill(syscall.SIGKILL, tree...)
	t.group.Kill()
}

// exited takes note of the end of a child: a task's main process, or something
// that a task left behind and we adopted.
func (h *host) exited(x process.Exit) {
	t := h.byPid[x.Pid]
	if t == nil {
		return
	}
	t.ended = &x
	delete(h.byPid, x.Pid)
}

// sweepDying finishes tasks whose main process has ended, as soon as nothing
// that they started is alive.
func (h *host) sweepDying() {
	var dying []*task
	for _, t := range h.tasks {
		if t.ended != nil && t.pid != 0 {
			dying = append(dying, t)
		}
	}
	if len(dying) == 0 {
		return
	}
	orphans := h.orphans()
	last := h.alive() == len(dying)
	for _, t := range dying {
		left := slices.DeleteFunc(slices.Clone(orphans), func(pid int) bool { return !last && !h.belongs(pid, t) })
		if len(left) == 0 {
			h.conclude(t)
			continue
		}
		for _, pid := range left {
			process.Kill(syscall.SIGKILL, append(process.Descendants(pid), pid)...)
		}
		t.group.Kill()
	}
}

// orphans are the processes we have adopted, that still run.
func (h *host) orphans() []int {
	var all []int
	for _, pid := range process.Children(os.Getpid()) {
		if h.byPid[pid] != nil || h.summoner.started(pid) {
			continue
		}
		if st, err := process.ReadStat(pid); err == nil && st.State != 'Z' {
			all = append(all, pid)
		}
	}
	return all
}

// belongs says whether an adopted process was started by t.
func (h *host) belongs(pid int, t *task) bool {
	st, err := process.ReadStat(pid)
	if err != nil {
		return false
	}
	return st.Session == t.pid || st.Group == t.pid || process.HasEnv(pid, hookTask+"="+t.seen.Instance.String())
}

// gone closes a task.
func (h *host) gone(t *task) {
	t.seen.State, t.seen.Ended = engine.Exited, h.clock.now()
	t.pid = 0
	crash.Point("host.exit-seen")
	if err := h.journal.write(t.seen); err != nil {
		h.inTrouble(err)
	}
	crash.Point("host.exit-journaled")
	process.Release(t.ports)
	t.ports = nil
	for _, f := range []*os.File{t.out, t.err, t.index} {
		if f != nil {
			_ = f.Close()
		}
	}
	t.group.Remove()
	h.mark(t)
}

// killEverything is the last act: nothing of the run outlives its host.
func (h *host) killEverything() {
	for range 1000 {
		left := slices.DeleteFunc(process.Descendants(os.Getpid()), h.summoner.started)
		if len(left) == 0 {
			return
		}
		process.Kill(syscall.SIGKILL, left...)
		select {
		case <-h.reaper.Exits():
		case <-time.After(5 * time.Millisecond):
		}
	}
}
