//go:build linux

package rank

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// fileVariable names the one variable that is the number of an open file: by it
// a rank under MPICH's mpirun talks to its launcher.
const fileVariable = "PMI_FD"

// maxEnvironment is more than any kernel takes.
const maxEnvironment = 64 << 20

// greet tells a stand-in, which may be in another container, who we are to
// ourselves.
func greet(conn *net.UnixConn) error {
	_, err := conn.Write(binary.LittleEndian.AppendUint32(nil, uint32(os.Getpid())))
	return err
}

func hear(conn *net.UnixConn) (pid int, err error) {
	word := make([]byte, 4)
	_, err = io.ReadFull(conn, word)
	return int(binary.LittleEndian.Uint32(word)), err
}

// send hands an environment over, with the open file that it names, if any.
func send(conn *net.UnixConn, env []string, file *os.File) error {
	body, err := json.Marshal(env)
	if err != nil {
		return err
	}
	var rights []byte
	if file != nil {
		rights = unix.UnixRights(int(file.Fd()))
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	if _, _, err := conn.WriteMsgUnix(head, rights, nil); err != nil {
		return err
	}
	_, err = conn.Write(body)
	return err
}

// receive takes over an environment. The file that it names is open, stays so
// in the program that we become, and has a number of ours.
func receive(conn *net.UnixConn) ([]string, error) {
	head, control := make([]byte, 4), make([]byte, unix.CmsgSpace(4))
	n, c, _, _, err := conn.ReadMsgUnix(head, control)
	if err == nil && n < len(head) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(head)
	if size > maxEnvironment {
		return nil, fmt.Errorf("an environment of %d bytes", size)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(conn, body); err != nil {
		return nil, err
	}
	var env []string
	if err := json.Unmarshal(body, &env); err != nil {
		return nil, err
	}
	return takeFile(env, control[:c])
}

// takeFile writes the received file's number here into its variable.
func takeFile(env []string, control []byte) ([]string, error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) == 0 {
		return env, err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	if len(fds) != 1 {
		return nil, errors.New("more than one file was handed over")
	}
	if _, err := unix.FcntlInt(uintptr(fds[0]), syscall.F_SETFD, 0); err != nil { // not closed on exec
		return nil, os.NewSyscallError("fcntl", err)
	}
	return replace(env, fileVariable, strconv.Itoa(fds[0])), nil
}

// launcherPrefixes begin what MPI's launchers tell a rank.
var launcherPrefixes = []string{"OMPI_", "PMIX_", "PMI_", "PRTE_", "ORTE_", "HYDRA_", "MPI_LOCAL", "I_MPI_"}

// merge adds to a task's own environment what the launcher gave its stand-in:
// all that is about MPI, and otherwise what the task has not.
func merge(own, given []string) []string {
	out := append([]string{}, own...)
	for _, kv := range given {
		name, value, _ := strings.Cut(kv, "=")
		_, has := lookup(own, name)
		switch {
		case strings.HasPrefix(name, "MUSTER_"):
		case fromLauncher(name):
			out = replace(out, name, value)
		case !has:
			out = append(out, kv)
		}
	}
	return out
}

func fromLauncher(name string) bool {
	for _, p := range launcherPrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func lookup(env []string, name string) (value string, ok bool) {
	for _, kv := range env {
		if v, found := strings.CutPrefix(kv, name+"="); found {
			return v, true
		}
	}
	return "", false
}

// replace returns env with one value for name.
func replace(env []string, name, value string) []string {
	var out []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, name+"=") {
			out = append(out, kv)
		}
	}
	return append(out, name+"="+value)
}
