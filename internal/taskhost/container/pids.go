//go:build linux

package container

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Every container counts its processes from 1. But ranks that share memory tell
// each other's pieces of it by process ids: with the same id, Open MPI takes
// another's for its own, and crashes. So the programs of ranks begin at numbers
// that are far enough from each other.
const (
	firstPid = 1024 // above those of a launcher
	apart    = 32   // more than our own threads take up meanwhile
)

// aboveOption comes before the other arguments of a first process.
const aboveOption = "--above"

// abovePid is where the process ids of a rank begin.
func abovePid(rank int) int { return firstPid + rank*apart }

// takeAbove reads the option.
func takeAbove(args []string) (above int, rest []string) {
	if len(args) > 1 && args[0] == aboveOption {
		if n, err := strconv.Atoi(args[1]); err == nil {
			return n, args[2:]
		}
	}
	return 0, args
}

// usePids uses up process ids until the next one is above a number: a thread
// takes one too, and costs the least. Only root may choose them.
func usePids(above int) error {
	if above == 0 {
		return nil
	}
	if most := maxPid(); above+apart > most {
		return fmt.Errorf("this machine has %d process ids (kernel.pid_max), too few for so many ranks in containers", most)
	}
	for {
		id := make(chan int)
		go func() {
			runtime.LockOSThread() // the thread ends with us
			id <- unix.Gettid()
		}()
		if <-id >= above {
			return nil
		}
	}
}

// fits says that a program that was started has an id of its rank's own.
func fits(pid, above int) error {
	if above != 0 && (pid < above || pid >= above+apart) {
		return fmt.Errorf("the program got the process id %d, which is not one of its rank's", pid)
	}
	return nil
}

func maxPid() int {
	b, _ := os.ReadFile("/proc/sys/kernel/pid_max")
	if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
		return n
	}
	return 32768 // the least that kernels have
}
