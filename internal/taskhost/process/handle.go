//go:build linux

package process

import (
	"errors"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Peer is who is at the other end of a local stream: the process and the user
// that the kernel noted when the stream was made. The pid is as we count, and 0
// for a process in a namespace that we cannot see into.
func Peer(conn *net.UnixConn) (pid, uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var who *unix.Ucred
	cerr := raw.Control(func(fd uintptr) { who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(cerr, err); err != nil {
		return 0, 0, err
	}
	return int(who.Pid), int(who.Uid), nil
}

// Hold returns a handle on a process. Unlike its number it cannot come to mean
// another.
func Hold(pid int) (*os.File, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, os.NewSyscallError("pidfd_open", err)
	}
	return os.NewFile(uintptr(fd), "pidfd"), nil
}

// AwaitEnd returns when the process behind a handle, whatever program it has
// become, and all of the PID namespace that it was the first of, are gone.
func AwaitEnd(handle *os.File) { Ended(handle, -1) }

// Ended says whether that is so, and waits for it at most that long; a negative
// time means for ever.
func Ended(handle *os.File, atMost time.Duration) bool {
	ms := -1
	if atMost >= 0 {
		ms = int(atMost / time.Millisecond)
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(handle.Fd()), Events: unix.POLLIN}}, ms)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err != nil || n > 0
	}
}
