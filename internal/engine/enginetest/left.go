//go:build linux

package enginetest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What a run's folder may hold after its end: what people asked for, and what
// they need to find out what went wrong.
var kept = []string{"checkpoint", "host.lock", "host.log", "logs", "outputs", "owner.lock", "owner.log"}

// A when is how long after its end it may take until nothing is left.
type when time.Duration

const (
	afterEnd  when = 0                      // an owner tells the end only then
	afterLoss when = when(10 * time.Second) // nobody is there who could tell
)

// nothingLeft checks that nothing of the run is on the machine any more.
func (s *subject) nothingLeft(w when) {
	s.b.Helper()
	var left []string
	for end := time.Now().Add(time.Duration(w)); ; time.Sleep(10 * time.Millisecond) {
		left = s.left()
		if len(left) == 0 {
			s.portsFree()
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	s.b.Errorf("left behind by %s:\n%s", s.id, strings.Join(left, "\n"))
}

func (s *subject) left() []string {
	var left []string
	for _, pid := range s.processes() {
		left = append(left, fmt.Sprintf("process %d: %s", pid, commandLine(pid)))
	}
	for _, pattern := range []string{"/sys/fs/cgroup/muster-%s-*", "/sys/fs/cgroup/*/muster-%s-*", os.TempDir() + "/*%s*"} {
		found, _ := filepath.Glob(fmt.Sprintf(pattern, s.id))
		left = append(left, found...)
	}
	for _, name := range inFolder(s.dir) {
		if !slices.Contains(kept, name) {
			left = append(left, filepath.Join(s.dir, name))
		}
	}
	left = append(left, s.specialFiles()...)
	if c := s.b.o.Containers; c != nil {
		left = append(left, c.Left(s.id)...)
	}
	for _, name := range []string{"host.log", "owner.log"} {
		text, _ := os.ReadFile(filepath.Join(s.dir, name))
		if bytes.Contains(text, []byte("panic:")) || bytes.Contains(text, []byte("DATA RACE")) {
			left = append(left, name+": "+string(text))
		}
	}
	return left
}

// portsFree waits for each port: another run may have been given it meanwhile.
func (s *subject) portsFree() {
	s.b.Helper()
	for _, port := range s.given() {
		s.b.await(fmt.Sprintf("port %d to be given back", port), func() bool { return s.free(port) })
	}
}

// processes are those that carry the run's marker, or its name in their command
// line: what the fake trainer leaves behind without an environment does.
func (s *subject) processes() []int {
	var all []int
	for _, name := range inFolder("/proc") {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		if hasEnv(pid, "MUSTER_RUN="+s.id) || strings.Contains(commandLine(pid), s.id) {
			all = append(all, pid)
		}
	}
	return all
}

// tasks are the processes of one task that have its marker.
func (s *subject) tasks(task string) []int {
	return slices.DeleteFunc(s.processes(), func(pid int) bool {
		return isInit(pid) || !hasEnv(pid, "MUSTER_TASK="+task) || !hasEnv(pid, "MUSTER_RUN="+s.id)
	})
}

// A process that has ended and is not yet reaped has neither of these.
func hasEnv(pid int, kv string) bool {
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return slices.ContainsFunc(bytes.Split(env, []byte{0}), func(b []byte) bool { return string(b) == kv })
}

func commandLine(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
}

// specialFiles are sockets and pipes that somebody forgot.
func (s *subject) specialFiles() []string {
	var all []string
	_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !d.Type().IsRegular() {
			all = append(all, path)
		}
		return nil
	})
	return all
}

// free says that nobody holds a port: bound without sharing it, it is ours, and
// what was given to another since was free. A connection of the past keeps a
// port for a minute without a process behind it.
func (s *subject) free(port int) bool {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		s.b.Fatal(err)
	}
	defer syscall.Close(fd)
	if syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: port}) == nil {
		return true
	}
	who, _ := latest.Load(port)
	return who != s || inTimeWait(port)
}

func inTimeWait(port int) bool {
	const timeWait = "06"
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(table)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) > 3 && f[3] == timeWait && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
				return true
			}
		}
	}
	return false
}

// killLeft keeps a failed case from troubling the others.
func (s *subject) killLeft() {
	for _, pid := range s.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
