//go:build linux

package taskhost

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost/process"
)

// conclude closes a task of which nothing is left, once what comes after it is
// done, too.
func (h *host) conclude(t *task) {
	if !t.decided {
		h.decide(t)
	}
	if h.tearDown(t) {
		return
	}
	h.gone(t)
}

// decide says how a task's program ended, with the evidence there is.
func (h *host) decide(t *task) {
	h.readHook() // what it said with its last breath
	h.date(t)
	h.over(t)
	t.decided, t.seen.Ended, t.seen.Ready = true, h.clock.now(), false
	ws, err := h.ending(t)
	t.exit = exitCode(ws)
	if err == nil && t.setup != 0 && ws.Exited() && ws.ExitStatus() == t.setup && !t.seen.Asked {
		err = &process.StartError{Code: t.setup, Text: fmt.Sprintf("its setup failed with code %d", t.setup)}
	}
	if err != nil {
		t.notStarted(err)
		return
	}
	switch {
	case t.overLimit != "":
		t.seen.Cause, t.seen.Detail = engine.ByLogLimit, t.overLimit
	case t.health.ended != "":
		t.seen.Cause, t.seen.Detail = engine.ByHealth, t.health.ended
	case t.hung:
		t.seen.Cause, t.seen.Code, t.exit = engine.ByExit, t.hook.Code, t.hook.Code
		t.seen.Asked = false
	case ws.Signaled():
		t.seen.Cause, t.seen.Signal = engine.BySignal, process.SignalName(ws.Signal())
		if t.seen.Signal == "KILL" && !t.killed {
			t.seen.Asked = false // somebody else was before us: its peers may notice sooner than we do
		}
		if t.seen.Signal == "KILL" && !t.seen.Asked {
			h.checkMemory(t)
		}
	default:
		t.seen.Cause, t.seen.Code = engine.ByExit, ws.ExitStatus()
	}
	h.decideMore(t)
}

// decideMore adds what is asked only of one that has ended.
func (h *host) decideMore(t *task) {
	was := t.seen.State
	t.seen.State = engine.Exited
	h.concludeException(t)
	if t.seen.Failed() {
		h.checkDisk() // what a full disk does to programs is not their fault
	}
	if t.seen.Failed() && !t.seen.Joined {
		t.seen.PortTaken = process.PortTakenIn(tail(filepath.Join(LogDir(h.config.Dir, t.seen.Instance), "stderr"), 4096))
	}
	t.seen.State = was
}

// ending is how a task's program ended, or why there was none.
func (h *host) ending(t *task) (syscall.WaitStatus, error) {
	if t.box == nil {
		return t.ended.Status, nil
	}
	return h.boxEnd(t)
}

// exitCode is an end as a shell tells it.
func exitCode(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// concludeException keeps the exception that a task told of only if that is
// what ended it: a program may have started another that failed, and gone on.
func (h *host) concludeException(t *task) {
	r := t.hook
	if r == nil || r.Type == "" {
		return
	}
	own := r.Pid == t.main()
	if t.hung || own || t.seen.Failed() && !t.seen.Asked && time.Since(r.at) < 5*time.Second {
		t.seen.Raised = &engine.Exception{Type: r.Type, Text: r.Text, At: r.when, Hung: t.hung}
		if t.hung {
			t.seen.Raised.After = t.hangLimit(r)
		}
	}
}

// checkMemory looks for the kernel's word that a killed task was out of memory.
func (h *host) checkMemory(t *task) {
	n := t.group.OOMKills()
	if t.box != nil && t.box.said.Ended != nil && t.launch.Memory > 0 {
		n = t.box.said.Ended.OOMKills
	}
	if n > 0 {
		t.seen.Cause = engine.ByOOM
		t.seen.Detail = fmt.Sprintf("%s, its resources.memory; cgroup oom_kill %d", job.Bytes(t.launch.Memory), n)
		return
	}
	// The machine's count is of all its processes, so of a small one it says
	// nothing: the kernel takes the largest.
	small := t.box == nil && t.ended.Memory < process.TotalMemory()/64
	if n := process.OOMKills(); h.sampler.oomKills >= 0 && n > h.sampler.oomKills && !small {
		t.seen.Cause = engine.ByOOM
		t.seen.Detail = fmt.Sprintf("the machine's memory; /proc/vmstat oom_kill rose by %d", n-h.sampler.oomKills)
	}
}

// tail returns the last n bytes of a file, as far as it can be read.
func tail(path string, n int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() > n {
		_, _ = f.Seek(-n, io.SeekEnd)
	}
	b, _ := io.ReadAll(io.LimitReader(f, n))
	return b
}
