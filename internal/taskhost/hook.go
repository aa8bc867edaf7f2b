//go:build linux

package taskhost

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost/process"
)

//go:embed sitecustomize.py
var pythonHook []byte

// The variables through which a Python program finds our hook.
const (
	hookFile = "MUSTER_HOOK_FILE"
	hookTask = "MUSTER_HOOK_TASK"
)

// Variables are those that a host adds to what a launch says.
var Variables = []string{hookFile, hookTask, "PYTHONPATH"}

// A hookRecord is what an interpreter says on its way out. It comes from the
// task and is believed only as far as it fits what we see.
type hookRecord struct {
	Pid   int    `json:"pid"`
	Task  string `json:"task"`
	Stage string `json:"stage"` // raised: exit callbacks begin; teardown: they are over; setup: the script before the command has failed
	Type  string `json:"type"`  // of the exception; empty after sys.exit
	Text  string `json:"text"`
	Code  int    `json:"code"`

	at   time.Time // monotonic
	when time.Time // for people
}

// hangLimit is how long an interpreter may take from there. Its own exit
// callbacks may have honest work to do, as uploading what was logged, unless one
// is known to wait for the other tasks; after them nothing is left that takes time.
func (t *task) hangLimit(r *hookRecord) time.Duration {
	switch {
	case r.Stage == "teardown":
		return 2 * time.Second
	case t.launch.WaitsAtExit:
		return 4 * time.Second
	}
	return 30 * time.Second
}

// stageSetup is what a task's own shell says: with 0 before it goes on, else
// before it exits with that code.
const stageSetup = "setup"

// hookDir is where a run's hook lies: it goes with the run.
func hookDir(runDir string) string { return filepath.Join(runDir, "python") }

// installHook puts the hook where the tasks' interpreters find it.
func installHook(runDir string) error {
	if err := os.MkdirAll(hookDir(runDir), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(hookDir(runDir), "sitecustomize.py"), pythonHook, 0o600)
}

// hookEnv adds the hook to a task's environment.
func hookEnv(env []string, runDir string, i job.Instance) []string {
	env = slices.Clone(env)
	path := hookDir(runDir)
	for n, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PYTHONPATH="); ok && v != "" {
			path += ":" + v
			env[n] = "" // replaced below; the kernel takes an empty string as it is
		}
	}
	env = slices.DeleteFunc(env, func(kv string) bool { return kv == "" })
	return append(env, "PYTHONPATH="+path, hookFile+"="+filepath.Join(runDir, HookName), hookTask+"="+i.String())
}

// readHook takes in what interpreters have said since the last time.
func (h *host) readHook() {
	for _, line := range h.sampler.hookLines() {
		var r hookRecord
		if json.Unmarshal(line, &r) != nil || r.Code < 0 || r.Code > 255 || r.Code == 0 && r.Stage != stageSetup {
			continue
		}
		for _, t := range h.tasks {
			switch {
			case t.seen.Instance.String() != r.Task || t.pid == 0:
			case t.box != nil && t.box.root == 0: // whose pids we cannot tell before it has greeted us
				t.box.early = append(t.box.early[max(0, len(t.box.early)-7):], r)
			default:
				h.heedHook(t, r)
			}
		}
	}
}

func (h *host) heedHook(t *task, r hookRecord) {
	r.Pid = t.outer(r.Pid)
	alive := t.ended == nil && slices.Contains(t.tree(), r.Pid)
	if !alive && r.Pid != t.main() {
		return
	}
	if r.Stage == stageSetup {
		t.setup, t.isSetUp = r.Code, r.Code == 0
		h.startWaiting()
		return
	}
	r.at, r.when = time.Now(), h.clock.now()
	if t.hook != nil && t.hook.Pid == r.Pid {
		r.when = t.hook.when // raised first, torn down later: one exception
	}
	t.hook = &r
	if alive {
		t.hangUntil = r.at.Add(t.hangLimit(&r))
	}
}

// endHung ends programs that have raised and do not end by themselves.
func (h *host) endHung(t *task, now time.Time) {
	if t.hangUntil.IsZero() || now.Before(t.hangUntil) || t.ended != nil {
		return
	}
	t.hangUntil = time.Time{}
	pid := t.hook.Pid
	if pid == t.main() {
		t.hung = true
		h.kill(t)
		return
	}
	if slices.Contains(t.tree(), pid) {
		process.Kill(syscall.SIGKILL, append(process.Descendants(pid), pid)...)
	}
}

// splitLines returns the whole lines of b and what is left.
func splitLines(b []byte) (lines [][]byte, rest []byte) {
	for {
		at := bytes.IndexByte(b, '\n')
		if at < 0 {
			return lines, b
		}
		lines, b = append(lines, b[:at]), b[at+1:]
	}
}
