//go:build linux

// Package rank makes every MPI rank a task of its own, with its own log, exit
// code and place in the verdict, although mpirun wants to be the one that
// starts them. The task of a rank waits ("serve"); mpirun starts a stand-in for
// it ("join"), which hands what mpirun gave it to the task and waits until that
// has ended; the task then becomes the program. An MPI library knows its rank
// by the environment and an open file, not by its process id or its parent.
package rank

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"muster.dev/muster/internal/taskhost"
)

// role is the role whose tasks are the ranks.
const role = "worker"

// An exitError ends the process with a code, and with nothing to say.
type exitError int

func (e exitError) Error() string { return "exit " + strconv.Itoa(int(e)) }

// Main carries out what muster starts itself as: "muster rank RUNDIR serve --
// COMMAND...", "... launch RANKS FLAVOUR PROGRAM OPTIONS..." and "... join".
// The first becomes the command and returns only if that goes wrong.
func Main(args []string) int {
	err := carryOut(args)
	var code exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(os.Stderr, "muster rank:", err)
	var se *startError
	if errors.As(err, &se) {
		return se.code
	}
	return 1
}

func carryOut(args []string) error {
	if len(args) < 2 {
		return errByMuster
	}
	m, err := openMeeting(args[0])
	if err != nil {
		return err
	}
	switch verb, rest := args[1], args[2:]; {
	case verb == "serve" && len(rest) > 1 && rest[0] == "--":
		return serve(m, rest[1:])
	case verb == "join":
		return join(m)
	case verb == "launch" && len(rest) > 2:
		n, err := strconv.Atoi(rest[0])
		if err != nil {
			return err
		}
		return launch(m, request{ranks: n, flavour: rest[1], program: rest[2], options: rest[3:]})
	}
	return errByMuster
}

var errByMuster = errors.New("is started by muster itself")

// A meeting is the folder where the ranks of one attempt wait to be joined.
type meeting struct {
	runDir  string
	attempt int
	path    string
	fd      *os.File
}

// openMeeting makes the folder, if it is not there, of the attempt that this
// process belongs to.
func openMeeting(runDir string) (*meeting, error) {
	attempt, err := strconv.Atoi(os.Getenv("MUSTER_ATTEMPT"))
	if err != nil {
		return nil, fmt.Errorf("MUSTER_ATTEMPT: %w", err)
	}
	path := filepath.Join(runDir, taskhost.RanksName, strconv.Itoa(attempt))
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	fd, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &meeting{runDir, attempt, path, fd}, nil
}

// address names the socket of a rank by our open folder: the kernel takes no
// socket names of more than 107 bytes, and run folders may be longer.
func (m *meeting) address(rank int) string {
	return fmt.Sprintf("/proc/self/fd/%d/%d", m.fd.Fd(), rank)
}
