//go:build linux

package chaos

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/taskhost/process"
)

// A proc is a process as /proc shows it.
type proc struct {
	pid  int
	argv []string
}

func (p proc) String() string {
	return fmt.Sprintf("%d %s", p.pid, strings.Join(p.argv, " "))
}

// processes returns those that are alive and that is accepts.
func processes(is func(proc) bool) []proc {
	var all []proc
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		p := readProc(pid)
		if len(p.argv) == 0 || !is(p) {
			continue
		}
		if st, err := process.ReadStat(pid); err == nil && st.State != 'Z' && st.State != 'X' {
			all = append(all, p)
		}
	}
	return all
}

// readProc returns a process without arguments when it is gone, or a zombie.
func readProc(pid int) proc {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	b = bytes.TrimSuffix(b, []byte{0})
	if len(b) == 0 {
		return proc{pid: pid}
	}
	return proc{pid, strings.Split(string(b), "\x00")}
}

// roleOf says what a process is to the run with that id, "" for nothing.
func (b *bed) roleOf(p proc, id string) Target {
	dir := b.runDir(id)
	switch {
	case len(p.argv) >= 3 && p.argv[0] == musterExe && p.argv[1] == "own" && p.argv[2] == dir:
		return Owner
	case len(p.argv) >= 4 && p.argv[0] == musterExe && p.argv[1] == "taskhost" && p.argv[2] == dir && p.argv[len(p.argv)-1] == "keep":
		return Keeper
	case len(p.argv) >= 4 && p.argv[0] == musterExe && p.argv[1] == "taskhost" && p.argv[2] == dir:
		return Host
	case slices.Contains(p.argv, "hold") && p.argv[len(p.argv)-1] == id:
		return Task // what a task left behind
	case process.HasEnv(p.pid, "MUSTER_OUTPUT_DIR="+filepath.Join(dir, "outputs")):
		return Task
	}
	return ""
}

// of returns the processes of a run that are one of the targets.
func (b *bed) of(id string, targets ...Target) []proc {
	return processes(func(p proc) bool { return slices.Contains(targets, b.roleOf(p, id)) })
}

// everything is all that a run can have.
func everything() []Target { return []Target{Owner, Keeper, Host, Task} }

// signal sends a signal to a process if it is still what it was.
func (p proc) signal(sig syscall.Signal) bool {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if !slices.Equal(readProc(p.pid).argv, p.argv) {
		return false
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0) == nil
}

// signalAll sends a signal to each and says whether it reached one.
func signalAll(procs []proc, sig syscall.Signal) bool {
	hit := false
	for _, p := range procs {
		hit = p.signal(sig) || hit
	}
	return hit
}

// end kills whatever of the bed's runs is left after a test that failed.
func (b *bed) end() {
	signalAll(processes(func(p proc) bool {
		ours := slices.ContainsFunc(p.argv, func(a string) bool { return strings.HasPrefix(a, b.dir+"/") })
		return ours && (p.argv[0] == musterExe || p.argv[0] == trainerExe)
	}), syscall.SIGKILL)
}

// cgroups returns what is left of a run's groups.
func cgroups(id string) []string {
	var all []string
	for _, pattern := range []string{"/sys/fs/cgroup/muster-%s-*", "/sys/fs/cgroup/*/muster-%s-*"} {
		found, _ := filepath.Glob(fmt.Sprintf(pattern, id))
		all = append(all, found...)
	}
	return all
}
