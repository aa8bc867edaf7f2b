//go:build linux

package container

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster.dev/muster/internal/taskhost/process"
)

// makersEnd is how long what has a container in its hands may take to end by
// itself: cut short, it can leave a container frozen.
const makersEnd = 5 * time.Second

// awaitMakers waits until nothing is left that has one of these containers in
// its hands. A runtime that is still making one has not heard of it, and one
// that has forgotten it may still be putting it away: asking is not enough.
// What is left after limit is returned.
func awaitMakers(names []string, limit time.Duration) (left []int) {
	seen := map[int]uint64{} // podman's monitor becomes another program, without the name, in the end
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		for _, pid := range makers(names) {
			if st, err := process.ReadStat(pid); err == nil {
				seen[pid] = st.Start
			}
		}
		left = left[:0]
		for pid, start := range seen {
			if st, err := process.ReadStat(pid); err == nil && st.Start == start && !st.Ended() {
				left = append(left, pid)
			}
		}
		if len(left) == 0 || time.Since(begin) > limit {
			return left
		}
	}
}

// endMakers ends them in the end, also those that do not.
func endMakers(names []string) error {
	process.Kill(syscall.SIGKILL, awaitMakers(names, makersEnd)...)
	if left := awaitMakers(names, makersEnd); len(left) > 0 {
		return fmt.Errorf("a container's process does not end: pid %d", left[0])
	}
	return nil
}

// makers are the processes that were told the name of one of these containers
// to make or to watch it.
func makers(names []string) (all []int) {
	if len(names) == 0 {
		return nil
	}
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile("/proc/" + d.Name() + "/cmdline")
		if named(strings.Split(string(line), "\x00"), names) {
			all = append(all, pid)
		}
	}
	return all
}

// named says that a command line gives a container one of these names: the
// client's own way, or that of podman's monitor.
func named(argv, names []string) bool {
	for i, arg := range argv[1:] {
		if option := argv[i]; (option == "--name" || option == "-n") && slices.Contains(names, arg) {
			return true
		}
	}
	return false
}
