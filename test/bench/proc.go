//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// descendants are all processes below pid, as the machine sees them.
func descendants(pid int) []int {
	var all []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, l := range lists {
		b, _ := os.ReadFile(l)
		for _, f := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(f); err == nil {
				all = append(append(all, n), descendants(n)...)
			}
		}
	}
	return all
}

// named are those of the processes whose program has that name.
func named(name string, pids []int) []int {
	var some []int
	for _, pid := range pids {
		if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); strings.TrimSpace(string(b)) == name {
			some = append(some, pid)
		}
	}
	return some
}

// hasEnv says whether a process was started with a variable (NAME=value).
func hasEnv(pid int, kv string) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return bytes.Contains(append([]byte{0}, b...), []byte("\x00"+kv+"\x00"))
}

// withEnv are all processes of the machine that were started with a variable
// and still run.
func withEnv(kv string) []int {
	var all []int
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err == nil && hasEnv(pid, kv) { // a zombie has no environment
			all = append(all, pid)
		}
	}
	return all
}

// handles are open descriptors of processes: unlike their numbers they cannot
// come to mean others.
type handles []unix.PollFd

func open(pids []int) (handles, error) {
	var all handles
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			all.close()
			return nil, fmt.Errorf("hold on to process %d: %w", pid, err)
		}
		all = append(all, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	return all, nil
}

func (h handles) close() {
	for _, f := range h {
		_ = unix.Close(int(f.Fd))
	}
}

// awaitGone returns when all of them have ended.
func (h handles) awaitGone(limit time.Duration) error {
	end := time.Now().Add(limit)
	for i := range h {
		for {
			n, err := unix.Poll(h[i:i+1], int(max(time.Until(end), 0).Milliseconds()))
			if n > 0 {
				break
			}
			if err == nil {
				return fmt.Errorf("a process is still there after %s", limit)
			}
		}
	}
	return nil
}

// memory is what processes use: their own share (PSS), and all they have in
// memory (RSS), in megabytes.
func memory(pids []int) (pss, rss float64) {
	for _, pid := range pids {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		for _, line := range strings.Split(string(b), "\n") {
			f := strings.Fields(line)
			if len(f) < 2 {
				continue
			}
			kb, _ := strconv.ParseFloat(f[1], 64)
			switch f[0] {
			case "Pss:":
				pss += kb / 1024
			case "Rss:":
				rss += kb / 1024
			}
		}
	}
	return pss, rss
}

// cpuTime is what processes have used so far.
func cpuTime(pids []int) time.Duration {
	var ticks int
	for _, pid := range pids {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(f) < 13 {
			continue
		}
		user, _ := strconv.Atoi(f[11])
		system, _ := strconv.Atoi(f[12])
		ticks += user + system
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// withArgument are all processes of the machine that were started with text in
// their arguments.
func withArgument(text string) []int {
	var all []int
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); bytes.Contains(b, []byte(text)) {
			all = append(all, pid)
		}
	}
	return all
}
