//go:build linux

package rank

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// patience is how long mpirun may take to end after it should.
const patience = 2 * time.Second

// watch runs mpirun and ends as it does. Whoever asks us to end asks the ranks
// too, and mpirun ends after them by itself; asked while it does so, Open MPI's
// crashes. So it is in a group of its own, and is asked only if it stays.
func watch(cmd *exec.Cmd) error {
	runtime.LockOSThread() // mpirun dies with the thread that started it
	asked := make(chan os.Signal, 8)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return &startError{startCode(err), err}
	}
	go func() {
		for s := range asked {
			time.AfterFunc(patience, func() { _ = cmd.Process.Signal(s) })
		}
	}()
	return ending(cmd.Wait())
}

// ending is how a process ended, as a shell tells it.
func ending(err error) error {
	var x *exec.ExitError
	if !errors.As(err, &x) {
		return err
	}
	if ws, ok := x.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return exitError(128 + int(ws.Signal()))
	}
	return exitError(max(x.ExitCode(), 1))
}
