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
	ports  []process.Port // all that it has
	pid    int            // of its main process; 0 when there is none
	ended  *process.Exit

	out, err *os.File
	index    *os.File
	sizes    [2]int64
	lastLoud time.Duration // of the sampler's clock: its last output
	meter    process.Meter
	group    *process.Cgroup
	box      *box // nil: it runs in no container

	killAt    time.Time // when grace is over; zero when not being stopped
	killed    bool      // we have sent it SIGKILL
	hook      *hookRecord
	hangUntil time.Time // when a program that raised is given up
	hung      bool
	health    patient
	setup     int  // the code that its setup has failed with
	isSetUp   bool // its setup has succeeded
	overLimit string

	decided bool // it is known how its program ended
	exit    int  // that, as a shell tells it
	after   aftermath
}

// apply makes the tasks match want.
func (h *host) apply(want *engine.Desired) {
	wanted := map[job.Instance]bool{}
	fresh := h.hold(want.Tasks)
	for _, w := range want.Tasks {
		wanted[w.Instance] = true
		t := h.tasks[w.Instance]
		switch {
		case w.State == engine.Stopped && t != nil:
			h.stop(t, w.Signal, w.Grace)
		case w.State == engine.Launched && t != nil && t.seen.State == engine.Holding && w.Launch != nil && !fresh[w.Instance]:
			// A launch for a place that is new here, or none, was made for a host
			// before us, with other ports: its owner has yet to learn of this one.
			h.start(t, w.Launch)
		}
	}
	for i, t := range h.tasks {
		if !wanted[i] && !t.seen.State.Gone() {
			h.stop(t, h.config.Signal, h.config.Grace)
		}
	}
}

func (h *host) mark(t *task) { h.changed[t.seen.Instance] = true }

// start launches a held task.
func (h *host) start(t *task, l *engine.Launch) {
	switch {
	case l.Container != nil:
		h.startBox(t, l)
	case len(l.Argv) == 0:
		h.startFailed(t, &process.StartError{Code: 125, Text: "there is nothing to run"})
	case l.After != nil && !h.setUp(t, *l.After):
		t.launch = l // it waits; places without a process can be given up
	default:
		t.launch = l
		h.launch(t, func() (process.Command, error) { return h.command(t) })
	}
}

// setUp says whether a task of this one's attempt is set up.
func (h *host) setUp(t *task, who job.Task) bool {
	for i, other := range h.tasks {
		if i.Task == who && i.Attempt == t.seen.Attempt && other.isSetUp {
			return true
		}
	}
	return false
}

// startWaiting starts the tasks that have waited for what is set up now.
func (h *host) startWaiting() {
	for _, t := range h.tasks {
		if l := t.launch; l != nil && l.After != nil && t.seen.State == engine.Holding {
			h.start(t, l)
		}
	}
}

// command is how a task without a container is started.
func (h *host) command(t *task) (process.Command, error) {
	l := t.launch
	var err error
	t.group, err = process.NewCgroup(h.run, t.seen.Instance.String(), l.Memory, l.CPUs)
	return process.Command{
		Argv: l.Argv, Env: hookEnv(l.Env, h.config.Dir, t.seen.Instance), Dir: l.Dir, CgroupFD: t.group.FD(),
	}, err
}

// launch starts a task's process. That it may be there is on record before
// anything is made for it.
func (h *host) launch(t *task, prepare func() (process.Command, error)) {
	t.seen.State, t.seen.Started = engine.Starting, h.clock.now()
	err := h.journal.write(t.seen)
	crash.Point("host.start-journaled")
	if err == nil {
		err = h.openLogs(t)
	}
	var cmd process.Command
	if err == nil {
		cmd, err = prepare()
	}
	if err == nil {
		cmd.Stdout, cmd.Stderr = t.out, t.err
		t.pid, err = h.spawner.Start(cmd)
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
	if t.box == nil { // else it says itself when it runs
		t.seen.State, t.seen.Pid = engine.Running, t.pid
		t.seen.Joined = t.launch.Joined == nil
	}
	h.mark(t)
}

func (h *host) startFailed(t *task, err error) {
	t.notStarted(err)
	h.gone(t)
}

func (t *task) notStarted(err error) {
	t.seen.Cause, t.seen.Code, t.seen.Detail = engine.StartFailed, 126, err.Error()
	var se *process.StartError
	if errors.As(err, &se) {
		t.seen.Code = se.Code
	}
}

func (h *host) openLogs(t *task) error {
	if t.out != nil && t.err != nil {
		return nil
	}
	dir := LogDir(h.config.Dir, t.seen.Instance)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, f := range map[string]**os.File{"stdout": &t.out, "stderr": &t.err} {
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
	if t.seen.Over() || t.ended != nil && t.box == nil { // it was before us
		return
	}
	if t.pid == 0 { // it only has a place
		process.Release(t.ports)
		t.closeLogs()
		delete(h.tasks, t.seen.Instance)
		h.dropped = append(h.dropped, t.seen.Instance)
		return
	}
	until := time.Now().Add(grace)
	if t.killAt.IsZero() {
		t.seen.Asked = true
		t.killed = signal == "KILL"
		t.seen.State = engine.Stopping
		h.mark(t)
		if t.box != nil {
			t.box.send(signal)
		} else {
			process.KillGroup(process.SignalNumber(signal), t.pid)
		}
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
	t.killed = true
	if t.box != nil {
		h.killBox(t)
		return
	}
	tree := process.Descendants(t.pid)
	process.KillGroup(syscall.SIGKILL, t.pid)
	process.Kill(syscall.SIGKILL, tree...)
	t.group.Kill()
}

// exited takes note of the end of a child: a task's main process, or something
// that a task left behind and we adopted.
func (h *host) exited(x process.Exit) {
	if done := h.asides[x.Pid]; done != nil {
		delete(h.asides, x.Pid)
		done(x)
		return
	}
	t := h.byPid[x.Pid]
	if t == nil {
		return
	}
	t.ended = &x
	if t.box != nil {
		t.box.endedAt = time.Now()
	}
	delete(h.byPid, x.Pid)
}

// sweepDying finishes tasks whose main process has ended, as soon as nothing
// that they started is alive.
func (h *host) sweepDying() {
	var dying []*task
	busy := false // a runtime may still put its containers away
	for _, t := range h.tasks {
		if t.ended == nil || t.pid == 0 || t.after.pid != 0 || t.box != nil && !h.settled(t) {
			continue
		}
		dying = append(dying, t)
		busy = busy || t.box != nil && time.Since(t.box.endedAt) < lateEnd
	}
	if len(dying) == 0 {
		return
	}
	last := h.alive() == len(dying)
	orphans := h.orphans()
	if last && len(orphans) == 0 {
		orphans = h.strays()
	}
	if last && busy && len(orphans) > 0 {
		return
	}
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
		if h.byPid[pid] != nil || h.asides[pid] != nil || h.summoner.started(pid) {
			continue
		}
		if st, err := process.ReadStat(pid); err == nil && !st.Ended() {
			all = append(all, pid)
		}
	}
	return all
}

// strays are what is left below us when no task should be: the next attempt may
// begin as soon as we say that there is nothing. So it is looked at twice, in
// case somebody is just being born.
func (h *host) strays() []int {
	for range 2 {
		left := slices.DeleteFunc(process.AllBelow(os.Getpid()), func(pid int) bool {
			return h.byPid[pid] != nil || h.asides[pid] != nil || h.summoner.started(pid)
		})
		if len(left) > 0 {
			return left
		}
	}
	return nil
}

// belongs says whether an adopted process was started by t.
func (h *host) belongs(pid int, t *task) bool {
	st, err := process.ReadStat(pid)
	if err != nil {
		return false
	}
	mains := []int{t.pid, t.after.was}
	return slices.Contains(mains, st.Session) || slices.Contains(mains, st.Group) || process.HasEnv(pid, hookTask+"="+t.seen.Instance.String())
}

// gone closes a task.
func (h *host) gone(t *task) {
	t.seen.State, t.seen.Ready = engine.Exited, false
	if t.seen.Ended.IsZero() {
		t.seen.Ended = h.clock.now()
	}
	t.pid = 0
	crash.Point("host.exit-seen")
	if err := h.journal.write(t.seen); err != nil {
		h.inTrouble(err)
	}
	crash.Point("host.exit-journaled")
	process.Release(t.ports)
	t.ports = nil
	t.closeLogs()
	t.health.leave()
	t.group.Remove()
	h.mark(t)
}

func (t *task) closeLogs() {
	for _, f := range []*os.File{t.out, t.err, t.index} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// killEverything is the last act: nothing of the run outlives its host.
func (h *host) killEverything() {
	for range 1000 {
		left := slices.DeleteFunc(process.AllBelow(os.Getpid()), h.summoner.started)
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
