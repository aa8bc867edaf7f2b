//go:build linux

package process

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Children returns the direct children of a process, those it has adopted
// included.
func Children(pid int) []int {
	var all []int
	dir := fmt.Sprintf("/proc/%d/task/", pid)
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	threads, _ := d.Readdirnames(-1)
	_ = d.Close()
	for _, tid := range threads {
		b, err := readProc(dir + tid + "/children")
		if err != nil {
			continue
		}
		for _, f := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(f); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// readProc reads a file of /proc with as few system calls as it takes:
// os.ReadFile asks the poller and the file's size first.
func readProc(path string) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	buf := make([]byte, 0, 1024)
	for {
		n, err := syscall.Read(fd, buf[len(buf):cap(buf)])
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			return buf, err
		}
		buf = buf[:len(buf)+n]
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

// Descendants returns the whole tree below a process.
func Descendants(pid int) []int {
	var all []int
	seen := map[int]bool{pid: true}
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		for _, c := range Children(todo[0]) {
			if !seen[c] {
				seen[c] = true
				all, todo = append(all, c), append(todo, c)
			}
		}
	}
	return all
}

// AllBelow returns the whole tree below a process, of what has not ended. Unlike
// the lists of children that Descendants reads, which miss some while others
// end, it looks at every process there is: it is slow and sure.
func AllBelow(pid int) []int {
	children := map[int][]int{}
	ended := map[int]bool{}
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		p, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		if st, err := ReadStat(p); err == nil {
			children[st.Parent] = append(children[st.Parent], p)
			ended[p] = st.Ended()
		}
	}
	var all []int
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		for _, c := range children[todo[0]] {
			todo = append(todo, c)
			if !ended[c] {
				all = append(all, c)
			}
		}
	}
	return all
}

// A Stat is what the kernel says of a process.
type Stat struct {
	State   byte
	Parent  int
	Group   int
	Session int
	Threads int
	Start   uint64 // ticks since boot: with the pid, a name that is never reused
	CPU     uint64 // ticks used
	Memory  int64  // resident bytes
}

// Ended says that the process only waits to be reaped. One whose first thread
// has ended while others still do so has its files, and the locks on them.
func (s Stat) Ended() bool { return s.State == 'Z' && s.Threads <= 1 }

// ReadStat reads /proc/PID/stat.
func ReadStat(pid int) (Stat, error) {
	b, err := readProc(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Stat{}, err
	}
	// The name stands in parentheses and may hold anything, also parentheses.
	end := bytes.LastIndexByte(b, ')')
	f := strings.Fields(string(b[end+1:]))
	if end < 0 || len(f) < 22 {
		return Stat{}, fmt.Errorf("/proc/%d/stat: %q is not understood", pid, b)
	}
	num := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
	big := func(i int) uint64 { n, _ := strconv.ParseUint(f[i], 10, 64); return n }
	return Stat{
		State: f[0][0], Parent: num(1), Group: num(2), Session: num(3), Threads: num(17),
		CPU: big(11) + big(12), Start: big(19), Memory: int64(big(21)) * int64(os.Getpagesize()),
	}, nil
}

// HasEnv says whether a process was started with the variable kv (NAME=value).
func HasEnv(pid int, kv string) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false
	}
	return bytes.HasPrefix(b, []byte(kv+"\x00")) || bytes.Contains(b, []byte("\x00"+kv+"\x00"))
}

// WithEnv returns every process on the machine that was started with kv. Those
// that have ended and only wait to be reaped are not among them.
func WithEnv(kv string) []int {
	var all []int
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == os.Getpid() || !HasEnv(pid, kv) {
			continue
		}
		if st, err := ReadStat(pid); err == nil && !st.Ended() {
			all = append(all, pid)
		}
	}
	return all
}

// WithArgument returns every process on the machine that has arg among the
// arguments of its command line.
func WithArgument(arg string) []int {
	var all []int
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, _ := os.ReadFile("/proc/" + d.Name() + "/cmdline")
		if slices.Contains(strings.Split(string(line), "\x00"), arg) {
			all = append(all, pid)
		}
	}
	return all
}

// Kill sends a signal to each process; one that is gone is no error.
func Kill(sig syscall.Signal, pids ...int) {
	for _, p := range pids {
		if p > 1 {
			_ = syscall.Kill(p, sig)
		}
	}
}

// KillGroup sends a signal to a process group and wakes what is stopped in it,
// so that the signal is seen.
func KillGroup(sig syscall.Signal, group int) {
	if group > 1 {
		_ = syscall.Kill(-group, sig)
		_ = syscall.Kill(-group, syscall.SIGCONT)
	}
}
