//go:build linux

package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Taken is a port that somebody else has.
type Taken struct {
	Port int
	By   string // in words; empty when that cannot be found out
}

func (t *Taken) Error() string {
	if t.By == "" {
		return fmt.Sprintf("port %d is in use", t.Port)
	}
	return fmt.Sprintf("port %d is in use by %s", t.Port, t.By)
}

// HoldNumber holds one port on all addresses, for holder, which is told to
// whoever wants the same. A port that somebody has is a Taken.
func HoldNumber(number int, holder string) (Port, error) {
	// A port that is bound and does not listen is in none of the kernel's
	// tables, and what a server has left behind for a minute must not be in our
	// way: so holders meet at a sign, which goes with the process.
	sign, err := putSign(number, holder)
	if err != nil {
		return Port{}, err
	}
	fd, err := bindNumber(number)
	if err == nil {
		return Port{Number: number, fd: fd, sign: sign}, nil
	}
	_ = sign.Close()
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return Port{}, &Taken{number, PortUser(number)}
	case errors.Is(err, syscall.EACCES):
		return Port{}, fmt.Errorf("port %d is only for root here (net.ipv4.ip_unprivileged_port_start)", number)
	}
	return Port{}, fmt.Errorf("hold port %d: %w", number, err)
}

// bindNumber binds a port that nobody has, and then shares it. Bound as shared
// at once it would also be given to us while others hold it.
func bindNumber(number int) (int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	at := &syscall.SockaddrInet4{Addr: anywhere, Port: number}
	err = syscall.Bind(fd, at)
	rest := errors.Is(err, syscall.EADDRINUSE) && lingers(number)
	if err == nil || rest {
		err = share(fd)
	}
	if err == nil && rest {
		err = syscall.Bind(fd, at)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return 0, os.NewSyscallError("bind", err)
	}
	return fd, nil
}

func share(fd int) error {
	return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
}

// putSign lets others ask whose a port is. It has no place in the file system:
// names of this kind belong to the network, as ports do.
func putSign(number int, holder string) (io.Closer, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: signName(number), Net: "unix"})
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &Taken{number, askSign(number)}
	}
	if err != nil {
		return nil, fmt.Errorf("hold port %d: %w", number, err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(signTime))
			_, _ = io.WriteString(c, holder)
			_ = c.Close()
		}
	}()
	return l, nil
}

func signName(number int) string { return "@muster.dev/port/" + strconv.Itoa(number) }

const signTime = time.Second // for words that nobody has a reason to delay

// askSign returns whose a port is; "" when it does not say so in plain words.
func askSign(number int) string {
	c, err := net.DialTimeout("unix", signName(number), signTime)
	if err != nil {
		return ""
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(signTime))
	const most = 100
	b, err := io.ReadAll(io.LimitReader(c, most))
	if err != nil || bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return string(b)
}

// lingers says that connections of the past are all that there is of a port.
func lingers(number int) bool {
	past := false
	for _, s := range socketsAt(number) {
		if s.state == tcpListen {
			return false
		}
		past = true
	}
	return past
}

// PortUser says who has a port, as far as this process may look: "" when it
// sees nobody.
func PortUser(number int) string {
	inodes := map[string]bool{}
	for _, s := range socketsAt(number) {
		if s.inode != "0" {
			inodes[s.inode] = true
		}
	}
	if len(inodes) == 0 {
		return ""
	}
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || !hasSocket(pid, inodes) {
			continue
		}
		name, _ := os.ReadFile("/proc/" + d.Name() + "/comm")
		who := fmt.Sprintf("process %d (%s)", pid, strings.ToValidUTF8(strings.TrimSpace(string(name)), "?"))
		if run := runOf(pid); run != "" {
			who = "run " + run + ", " + who
		}
		return who
	}
	return ""
}

// runOf is the run that a process belongs to, if we may know.
func runOf(pid int) string {
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if id, ok := bytes.CutPrefix(kv, []byte("MUSTER_RUN=")); ok {
			return strings.ToValidUTF8(string(id), "?")
		}
	}
	return ""
}
