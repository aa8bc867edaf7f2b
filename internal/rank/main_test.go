//go:build linux

package rank

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// TestMain lets the test binary be muster, as which it is started again, and a
// program that has an open file from mpirun.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "rank":
		os.Exit(Main(os.Args[2:]))
	case len(os.Args) > 2 && os.Args[1] == "speak":
		os.Exit(speak(os.Args[2]))
	}
	os.Exit(m.Run())
}

// speak prints what it is, says a line to mpirun, and exits with the number
// that mpirun answers.
func speak(line string) int {
	fmt.Println(os.Getpid(), os.Getenv("PMI_RANK"), os.Getenv("MUSTER_TASK_INDEX"), os.Getenv("MINE"), os.Getenv("GIVEN"), os.Getenv("MUSTER_TASK"))
	fd, err := strconv.Atoi(os.Getenv("PMI_FD"))
	if err != nil {
		fmt.Println(err)
		return 100
	}
	mpirun, code := os.NewFile(uintptr(fd), "mpirun"), 101
	fmt.Fprintln(mpirun, line)
	_, _ = fmt.Fscanln(mpirun, &code)
	return code
}
