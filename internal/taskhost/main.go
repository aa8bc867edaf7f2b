//go:build linux

package taskhost

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Main is the process "muster taskhost RUNDIR ISOLATION [keep|kept]". File 3 is
// the stream to the owner; file 4, kept, the one to the keeper.
func Main(args []string) int {
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, "muster taskhost is started by muster itself")
		return 2
	}
	exe, err := os.Executable()
	role := strings.Join(args[2:], " ")
	if err == nil && role == "keep" {
		err = keep(exe, args[0], Isolation(args[1]))
	} else if err == nil {
		err = serve(args[0], Isolation(args[1]), role == "kept")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "muster taskhost:", err)
		return 1
	}
	return 0
}

func serve(runDir string, iso Isolation, kept bool) error {
	swallowSignals()
	file := os.NewFile(3, "owner")
	conn, err := net.FileConn(file)
	if err != nil {
		return fmt.Errorf("the stream to the owner: %w", err)
	}
	_ = file.Close()
	var s summoner = &directSummoner{pids: map[int]bool{}}
	if kept {
		unix.CloseOnExec(4)
		keeper := os.NewFile(4, "keeper")
		if _, err := keeper.Read(make([]byte, 1)); err != nil {
			return fmt.Errorf("wait for the keeper: %w", err)
		}
		s = &keptSummoner{keeper}
	}
	if iso != NoIsolation {
		if err := ownProc(); err != nil {
			return err
		}
	}
	return Serve(conn, runDir, s)
}

// swallowSignals keeps from us what is meant for the owner. Caught, not ignored:
// tasks would inherit that.
func swallowSignals() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
}

// ownProc shows our PID namespace under /proc, to us and our tasks only.
func ownProc() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc for the tasks: %w", err)
	}
	return nil
}

// listen opens the door for later owners. A unix socket's path may have 108
// bytes at most, a run's folder any number: so it is named through the folder's
// descriptor.
func listen(runDir string) (net.Listener, error) {
	var l net.Listener
	err := throughDescriptor(runDir, func(dir string) error {
		_ = os.Remove(filepath.Join(dir, SocketName))
		var err error
		l, err = net.Listen("unix", filepath.Join(dir, SocketName))
		return err
	})
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	return l, nil
}

// Dial reaches the host of the run whose folder is runDir.
func Dial(runDir string) (net.Conn, error) {
	var conn net.Conn
	err := throughDescriptor(runDir, func(dir string) error {
		var err error
		conn, err = net.Dial("unix", filepath.Join(dir, SocketName))
		return err
	})
	return conn, err
}

func throughDescriptor(dir string, use func(string) error) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return use(fmt.Sprintf("/proc/self/fd/%d", d.Fd()))
}
