//go:build linux

package rank

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A relay stands between a rank and MPICH's mpirun. Under MPICH a rank that calls
// MPI_Abort only asks to be killed: mpirun would kill its stand-in, fail, and
// leave open which rank it was. And mpirun must not see a rank go, through the
// file that it opened for it, before the host has seen and recorded it.
type relay struct {
	rank     *os.File
	launcher *os.File
}

// newRelay returns a relay and the rank's end of it; nil where mpirun opened no
// file for the rank.
func newRelay() (r *relay, end *os.File, err error) {
	v, ok := os.LookupEnv(fileVariable)
	if !ok {
		return nil, nil, nil
	}
	fd, err := strconv.Atoi(v)
	if err != nil {
		return nil, nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	syscall.CloseOnExec(fd)
	return &relay{os.NewFile(uintptr(pair[0]), "rank"), os.NewFile(uintptr(fd), "mpirun")}, os.NewFile(uintptr(pair[1]), "end"), nil
}

// start carries what either says to the other, until this process ends.
// Instead of the rank's last words, mpirun gets its end.
func (r *relay) start(aborted func(code int)) {
	go func() { _, _ = io.Copy(r.rank, r.launcher) }()
	go func() {
		for lines := bufio.NewReader(r.rank); ; {
			line, err := lines.ReadBytes('\n')
			if code, ok := abortIn(line); ok {
				aborted(code)
				continue
			}
			if _, werr := r.launcher.Write(line); err != nil || werr != nil {
				return
			}
		}
	}()
}

// abortIn reads "cmd=abort exitcode=7".
func abortIn(line []byte) (code int, ok bool) {
	words := bytes.Fields(line)
	if len(words) == 0 || string(words[0]) != "cmd=abort" {
		return 0, false
	}
	for _, w := range words[1:] {
		if v, found := bytes.CutPrefix(w, []byte("exitcode=")); found {
			code, _ = strconv.Atoi(string(v))
		}
	}
	return max(code&0xff, 1), true
}
