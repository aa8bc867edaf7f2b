//go:build linux

package script

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long anything may take that a script waits for.
const patience = 30 * time.Second

// A scene is what belongs to one script.
type scene struct {
	work    string
	started map[string]*process
}

type sceneKey struct{}

func sceneOf(ts *testscript.TestScript) *scene { return ts.Value(sceneKey{}).(*scene) }

// eventually calls look until it says true or patience is at its end.
func eventually(look func() bool) bool { return within(patience, look) }

func within(limit time.Duration, look func() bool) bool {
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for end := time.Now().Add(limit); ; <-ticks.C {
		if look() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// A proc is a process of this machine, as far as /proc shows it to us.
type proc struct {
	pid          int
	args         []string
	environ, cwd string
}

// processes of the scene: they have its folder in their environment or their
// command line, or work in it, or are named after one of its runs.
func (s *scene) processes() []proc {
	runs, _ := filepath.Glob(filepath.Join(s.work, "*", "runs", "*"))
	var all []proc
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if pid == os.Getpid() {
			continue
		}
		if p, ok := readProc(pid); ok && s.owns(p, runs) {
			all = append(all, p)
		}
	}
	return all
}

// readProc is false for a process that has gone, or is only waited for.
func readProc(pid int) (proc, bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(line) == 0 {
		return proc{}, false
	}
	env, _ := os.ReadFile(filepath.Join(dir, "environ"))
	cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
	return proc{pid: pid, args: strings.Split(strings.TrimRight(string(line), "\x00"), "\x00"), environ: "\x00" + string(env), cwd: cwd}, true
}

func (s *scene) owns(p proc, runs []string) bool {
	line := strings.Join(p.args, " ")
	if s.named(p.environ) || s.named(line) || s.named(p.cwd) {
		return true
	}
	return slices.ContainsFunc(runs, func(dir string) bool { return strings.Contains(line, "hold "+filepath.Base(dir)) })
}

// named says that a text has the scene's folder in it, and not only that of
// another scene whose name begins like this one's.
func (s *scene) named(text string) bool {
	for {
		_, rest, found := strings.Cut(text, s.work)
		if !found {
			return false
		}
		if rest == "" || !strings.ContainsAny(rest[:1], "abcdefghijklmnopqrstuvwxyz0123456789_-") {
			return true
		}
		text = rest
	}
}

// of finds the process that a script means by owner:RUN, host:RUN or
// RUN/TASK; 0 when there is none.
func (s *scene) of(name string) int {
	kind, id, special := strings.Cut(name, ":")
	run, task, _ := strings.Cut(name, "/")
	for _, p := range s.processes() {
		switch {
		case special && kind == "owner" && isOurs(p, "own", id),
			special && kind == "host" && isOurs(p, "taskhost", id) && p.args[len(p.args)-1] != "keep",
			!special && strings.Contains(p.environ, "\x00MUSTER_RUN="+run+"\x00") && strings.Contains(p.environ, "\x00MUSTER_TASK="+task+"\x00"):
			return p.pid
		}
	}
	return 0
}

func isOurs(p proc, command, run string) bool {
	return len(p.args) > 2 && p.args[1] == command && filepath.Base(p.args[2]) == run
}

// killStarted ends what the script has started and not waited for.
func (s *scene) killStarted() {
	for _, p := range s.started {
		_ = p.cmd.Process.Signal(syscall.SIGKILL)
		<-p.done
	}
}

// leftovers waits until nothing of the script is left, and names what stays.
// Processes that stay are killed, so that one failure does not cause others.
func (s *scene) leftovers() []string {
	var left []string
	if within(5*time.Second, func() bool { left = s.traces(); return len(left) == 0 }) {
		return nil
	}
	for _, p := range s.processes() {
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
	return left
}

// traces are processes, sockets of task hosts, temporary files and cgroups.
func (s *scene) traces() []string {
	var all []string
	for _, p := range s.processes() {
		all = append(all, "process "+strconv.Itoa(p.pid)+": "+strings.Join(p.args, " "))
	}
	_ = filepath.WalkDir(s.work, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (d.Type()&fs.ModeSocket != 0 || filepath.Dir(path) == filepath.Join(s.work, ".tmp")) {
			all = append(all, path)
		}
		return nil
	})
	runs, _ := filepath.Glob(filepath.Join(s.work, "*", "runs", "*"))
	for _, r := range runs {
		for _, pattern := range []string{"/sys/fs/cgroup/*/muster-", "/sys/fs/cgroup/muster-"} {
			groups, _ := filepath.Glob(pattern + filepath.Base(r) + "-*")
			all = append(all, groups...)
		}
	}
	return all
}
