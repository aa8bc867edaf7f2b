//go:build linux

package taskhost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/taskhost/process"
)

// An Isolation is what stands between the tasks of a run and the machine.
type Isolation string

// The isolations. In its own PID namespace a host takes every task with it when
// it dies, by the kernel; a plain user needs a user namespace for that.
const (
	PIDNamespace  Isolation = "pid namespace"
	UserNamespace Isolation = "user and pid namespace"
	NoIsolation   Isolation = "none"
)

// Best is the isolation to try first here.
func Best() Isolation {
	if os.Geteuid() == 0 {
		return PIDNamespace
	}
	return UserNamespace
}

func (i Isolation) attributes() *syscall.SysProcAttr {
	sys := &syscall.SysProcAttr{Setsid: true}
	switch i {
	case PIDNamespace:
		sys.Cloneflags = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS
	case UserNamespace:
		sys.Cloneflags = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		sys.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	return sys
}

// A Record names a host so that a later owner can find it. The start time makes
// a pid that was used again for something else another process.
type Record struct {
	Pid       int       `json:"pid"`
	Start     uint64    `json:"start"`
	Boot      string    `json:"boot"`
	Isolation Isolation `json:"isolation"`
}

// ReadRecord reads a run's record of its host; nil when it never had one.
func ReadRecord(runDir string) (*Record, error) {
	b, err := os.ReadFile(filepath.Join(runDir, StateName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r Record
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(runDir, StateName), err)
	}
	return &r, nil
}

// Open returns a handle on the recorded host, or nil when it is gone.
func (r *Record) Open() *os.File {
	if r.Boot != process.BootID() {
		return nil
	}
	handle, err := process.Hold(r.Pid)
	if err != nil {
		return nil
	}
	// Only after the handle is open does the start time prove who it is. A
	// zombie may be a first thread whose others, and with them the tasks, still
	// end: only the handle tells.
	if st, err := process.ReadStat(r.Pid); err != nil || st.Start != r.Start {
		_ = handle.Close()
		return nil
	}
	return handle
}

// Encode is the record as the host is to write it: only the host knows whether
// it is the one that runs this run, only its starter which process it is.
func (r *Record) Encode() ([]byte, error) { return json.Marshal(r) }

func writeRecord(runDir string, b []byte) error {
	tmp := filepath.Join(runDir, StateName+".new")
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(runDir, StateName))
}

// A Process is a host that has been started.
type Process struct {
	Record
	Handle *os.File // a pidfd: readable when the host and all in its namespace are gone
	Conn   net.Conn // the first owner's end
}

// Start starts a host for the run whose folder is runDir. The host waits for
// the owner's hello. With keep, a keeper stands by to start new owners.
func Start(exe, runDir string, iso Isolation, keep bool) (*Process, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	theirs, ours := os.NewFile(uintptr(fds[1]), "host"), os.NewFile(uintptr(fds[0]), "owner")
	defer theirs.Close()
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	var p *Process
	if keep && iso != NoIsolation {
		p, err = startKept(exe, runDir, iso, theirs)
	} else {
		p, err = startDirect(exe, runDir, iso, theirs, nil)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	p.Conn = conn
	return p, nil
}

// startDirect forks the host.
func startDirect(exe, runDir string, iso Isolation, conn, keeper *os.File) (*Process, error) {
	log, err := os.OpenFile(filepath.Join(runDir, "host.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	pidfd := -1
	sys := iso.attributes()
	sys.PidFD = &pidfd
	files, argv := []uintptr{null.Fd(), log.Fd(), log.Fd(), conn.Fd()}, []string{exe, "taskhost", runDir, string(iso)}
	if keeper != nil {
		files, argv = append(files, keeper.Fd()), append(argv, "kept")
	}
	// Not os.StartProcess: it first forks a child of its own to try out pidfds,
	// which costs as much as the host itself.
	pid, err := syscall.ForkExec(exe, argv, &syscall.ProcAttr{Dir: "/", Env: os.Environ(), Files: files, Sys: sys})
	if err != nil {
		return nil, fmt.Errorf("start a task host (isolation: %s): %w", iso, err)
	}
	crash.Point("host.forked")
	p := &Process{Record: Record{Pid: pid, Boot: process.BootID(), Isolation: iso}}
	if pidfd >= 0 {
		p.Handle = os.NewFile(uintptr(pidfd), "pidfd")
	}
	if st, err := process.ReadStat(pid); err == nil {
		p.Start = st.Start
	}
	go process.Wait(pid) // so that it does not stay as a zombie
	return p, nil
}
