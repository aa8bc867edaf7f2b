//go:build linux

package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// OOMKills is how many processes the kernel has ended on this machine for want
// of memory since it was started; -1 where it does not say.
func OOMKills() int {
	b, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "oom_kill "); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
				return n
			}
		}
	}
	return -1
}

// TotalMemory is how many bytes this machine has.
func TotalMemory() int64 {
	var s unix.Sysinfo_t
	if err := unix.Sysinfo(&s); err != nil {
		return 0
	}
	return int64(s.Totalram) * int64(s.Unit)
}

// LeastFree is how much of a disk must be free for a run on it to end well: with
// less it counts as full.
const LeastFree = 1 << 20

// FreeBytes is how much may still be written to the disk that holds dir.
func FreeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * st.Bsize, nil
}

// PortTakenIn says whether the end of a log complains of a port in use.
func PortTakenIn(tail []byte) bool {
	tail = bytes.ToLower(tail) // languages differ in how they begin the sentence
	for _, sign := range []string{"address already in use", "eaddrinuse", "bind failed"} {
		if bytes.Contains(tail, []byte(sign)) {
			return true
		}
	}
	return false
}

// BootID names this start of the machine.
func BootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

// Monotonic is a clock that nobody can set, the same for every process since
// the machine was started; it stands still while the machine sleeps.
func Monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}
