package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// A child is a process to be left behind. Its command line ends with "hold
// RUN", by which tests find it.
type child struct {
	session bool     // in a session of its own
	bare    bool     // no environment, no output
	steps   []string // before hold
}

// start returns once the child is as it should be.
func (c child) start(run string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	told, tell, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer told.Close()
	cmd := exec.Command(self, append(c.steps, "ready=3", "hold", run)...)
	cmd.ExtraFiles = []*os.File{tell}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: c.session}
	if c.bare {
		cmd.Env = []string{}
	} else {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	}
	err = cmd.Start()
	tell.Close()
	if err != nil {
		return 0, err
	}
	if n, _ := told.Read(make([]byte, 1)); n == 0 {
		return 0, errors.New("the child died")
	}
	return cmd.Process.Pid, nil
}

func leaving(c child) func(string) (action, error) {
	return always(func(t *trainer) error {
		pid, err := c.start(t.run)
		if err == nil {
			_, err = fmt.Println("left", pid)
		}
		return err
	})
}

// leaveDaemon leaves a grandchild whose parent, in a session of its own, has
// already ended.
func leaveDaemon(t *trainer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "orphan="+t.run)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(out)
	return err
}

func orphan(run string) (action, error) {
	return func(*trainer) error {
		pid, err := child{session: true, bare: true, steps: []string{"ignore=TERM,HUP,INT"}}.start(run)
		if err == nil {
			_, err = fmt.Println("left", pid)
		}
		return err
	}, nil
}

func ready(value string) (action, error) {
	fd, err := strconv.Atoi(value)
	return func(*trainer) error {
		f := os.NewFile(uintptr(fd), "ready")
		_, err := io.WriteString(f, "!")
		return errors.Join(err, f.Close())
	}, err
}
