//go:build linux

package process

import (
	"errors"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// An Exit is the end of a child, ours or adopted.
type Exit struct {
	Pid    int
	Status syscall.WaitStatus
	Memory int64 // bytes that it had at most
}

// A Reaper waits for every child in one loop; a goroutine in wait per task
// would cost a thread each.
type Reaper struct {
	exits chan Exit
	kick  chan struct{}
}

// NewReaper makes this process adopt what its descendants leave behind, and
// begins to reap.
func NewReaper() *Reaper {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	r := &Reaper{exits: make(chan Exit, 256), kick: make(chan struct{}, 1)}
	go r.loop()
	return r
}

// Exits gives every exit, in the order in which the kernel told them.
func (r *Reaper) Exits() <-chan Exit { return r.exits }

// Forked says that there is a child again.
func (r *Reaper) Forked() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

func (r *Reaper) loop() {
	runtime.LockOSThread()
	for {
		var ws syscall.WaitStatus
		var used syscall.Rusage
		pid, err := syscall.Wait4(-1, &ws, 0, &used)
		switch {
		case errors.Is(err, syscall.ECHILD):
			<-r.kick
		case err == nil:
			r.exits <- Exit{pid, ws, used.Maxrss << 10}
		}
	}
}

// Wait reaps one child of ours; nothing happens if somebody else has.
func Wait(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// SignalName returns a signal's name without SIG.
func SignalName(s syscall.Signal) string {
	if n := unix.SignalName(s); len(n) > 3 {
		return n[3:]
	}
	return s.String()
}

// SignalNumber returns the signal called name, with or without SIG.
func SignalNumber(name string) syscall.Signal {
	if s := unix.SignalNum("SIG" + name); s != 0 {
		return s
	}
	if s := unix.SignalNum(name); s != 0 {
		return s
	}
	return unix.SIGTERM
}
