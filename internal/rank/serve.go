//go:build linux

package rank

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// A startError is a program that cannot be started, with a shell's exit code.
type startError struct {
	code int
	err  error
}

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

// serve waits until this task's rank is joined, then becomes the command. The
// process stays the same, so its log, its end and its limits stay the task's.
func serve(m *meeting, argv []string) error {
	path, err := find(argv[0]) // before the others have begun to wait for it
	if err != nil {
		return err
	}
	index, err := strconv.Atoi(os.Getenv("MUSTER_TASK_INDEX"))
	if err != nil {
		return fmt.Errorf("MUSTER_TASK_INDEX: %w", err)
	}
	given, err := m.await(index)
	if err != nil {
		return err
	}
	return become(path, argv, merge(os.Environ(), given))
}

// await returns what the stand-in of a rank hands over. A stand-in that dies
// over it makes no difference: mpirun fails then.
func (m *meeting) await(rank int) ([]string, error) {
	at := m.address(rank)
	_ = os.Remove(at)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		var env []string
		if err = greet(conn); err == nil {
			env, err = receive(conn)
		}
		conn.Close()
		if err == nil {
			return env, nil
		}
		fmt.Fprintln(os.Stderr, "muster rank: being joined:", err)
	}
}

func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return path, nil
	}
	return "", &startError{startCode(err), err}
}

// become replaces this process by the program; it returns only an error.
func become(path string, argv, env []string) error {
	err := syscall.Exec(path, argv, env)
	return &startError{startCode(err), fmt.Errorf("%s: %w", path, err)}
}

func startCode(err error) int {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return 127
	}
	return 126
}
