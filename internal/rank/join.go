//go:build linux

package rank

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost"
)

const (
	comeTime   = time.Minute      // for a task to begin to wait
	recordTime = 10 * time.Second // for its end to be recorded
	pause      = 10 * time.Millisecond
)

// join hands over what mpirun gave to this process, which stands in for a rank,
// and ends as the rank does.
func join(m *meeting) error {
	n, err := number()
	if err != nil {
		return err
	}
	task := job.Task{Role: role, Index: n}
	conn, err := m.dial(n)
	if err != nil {
		return fmt.Errorf("join %s: %w", task, err)
	}
	end, err := handleOf(conn)
	if err == nil {
		err = send(conn, os.Environ())
	}
	_ = conn.Close()
	if err != nil {
		return fmt.Errorf("join %s: %w", task, err)
	}
	closeFile() // the rank's alone now: its launcher must see when it is gone
	if err := await(end); err != nil {
		return fmt.Errorf("wait for %s: %w", task, err)
	}
	return m.outcome(task)
}

// number is the rank that mpirun gave to this process.
func number() (int, error) {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"} {
		if v, ok := os.LookupEnv(name); ok {
			n, err := strconv.Atoi(v)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", name, err)
			}
			return n, nil
		}
	}
	return 0, errors.New("mpirun gave no rank (OMPI_COMM_WORLD_RANK, PMIX_RANK or PMI_RANK)")
}

// dial connects to the task of a rank, which may have yet to begin to wait.
func (m *meeting) dial(rank int) (*net.UnixConn, error) {
	for until := time.Now().Add(comeTime); ; time.Sleep(pause) {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: m.address(rank), Net: "unix"})
		if err == nil || time.Now().After(until) {
			return conn, err
		}
	}
}

// handleOf returns a pidfd of the process that listens at the other end, which
// is readable once that has ended, whatever program it has become.
func handleOf(conn *net.UnixConn) (fd int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	fd = -1
	cerr := raw.Control(func(s uintptr) {
		var peer *unix.Ucred
		if peer, err = unix.GetsockoptUcred(int(s), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			fd, err = unix.PidfdOpen(int(peer.Pid), 0)
		}
	})
	return fd, errors.Join(cerr, err)
}

func closeFile() {
	if fd, err := strconv.Atoi(os.Getenv(fileVariable)); err == nil {
		_ = unix.Close(fd)
	}
}

func await(pidfd int) error {
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// outcome tells mpirun how the rank ended, as its host has recorded it. By then
// the host knows, and whatever mpirun does now comes later in its account.
func (m *meeting) outcome(task job.Task) error {
	for until := time.Now().Add(recordTime); time.Now().Before(until); time.Sleep(pause) {
		for _, i := range m.ended() {
			if i.Task == task {
				return failure(i)
			}
		}
	}
	return exitError(1)
}

// ended are the ranks of this attempt that their host has recorded as ended.
func (m *meeting) ended() []engine.Instance {
	all, _ := taskhost.ReadJournal(m.runDir) // the next look may fare better
	return slices.DeleteFunc(all, func(i engine.Instance) bool {
		return i.Task.Role != role || i.Attempt != m.attempt || i.State != engine.Exited
	})
}

func failure(i engine.Instance) error {
	if !i.Failed() {
		return nil
	}
	return exitError(max(i.Code, 1))
}
