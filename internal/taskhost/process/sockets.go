//go:build linux

package process

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Sockets is what the kernel knows of the machine's TCP sockets at one moment.
type Sockets struct {
	listening map[string]int // inode -> local port
	connected map[string]int // inode -> remote port
}

const (
	tcpEstablished = "01"
	tcpListen      = "0A"
)

var socketTables = []string{"/proc/net/tcp", "/proc/net/tcp6"}

// ReadSockets reads the tables.
func ReadSockets() Sockets {
	s := Sockets{map[string]int{}, map[string]int{}}
	for _, name := range socketTables {
		if b, err := os.ReadFile(name); err == nil {
			s.parse(b)
		}
	}
	return s
}

// parse reads lines such as
//
//	0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 12345 ...
func (s Sockets) parse(table []byte) {
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 {
			continue
		}
		switch f[3] {
		case tcpListen:
			s.listening[f[9]] = hexPort(f[1])
		case tcpEstablished:
			s.connected[f[9]] = hexPort(f[2])
		}
	}
}

func hexPort(addr string) int {
	_, port, _ := strings.Cut(addr, ":")
	n, _ := strconv.ParseUint(port, 16, 16)
	return int(n)
}

// Listening says whether one of the processes listens on a local port.
func (s Sockets) Listening(port int, pids []int) bool { return among(s.listening, port, pids) }

// Connected says whether one of the processes has a connection to a port.
func (s Sockets) Connected(port int, pids []int) bool { return among(s.connected, port, pids) }

// among says whether one of the processes has a socket with that port open.
func among(ports map[string]int, port int, pids []int) bool {
	inodes := map[string]bool{}
	for inode, p := range ports {
		if p == port {
			inodes[inode] = true
		}
	}
	return len(inodes) > 0 && slices.ContainsFunc(pids, func(pid int) bool { return hasSocket(pid, inodes) })
}

// hasSocket says whether a process has one of these sockets open.
func hasSocket(pid int, inodes map[string]bool) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, _ := os.ReadDir(dir)
	for _, fd := range fds {
		link, err := os.Readlink(dir + "/" + fd.Name())
		if err != nil {
			continue
		}
		if inode, ok := strings.CutPrefix(link, "socket:["); ok && inodes[strings.TrimSuffix(inode, "]")] {
			return true
		}
	}
	return false
}

// A socket is a line of the kernel's tables.
type socket struct {
	state string
	inode string // 0 for one that no process has
}

// socketsAt are the sockets at a local port; those that are only bound are in
// no table.
func socketsAt(port int) (all []socket) {
	for _, table := range socketTables {
		b, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) >= 10 && hexPort(f[1]) == port {
				all = append(all, socket{f[3], f[9]})
			}
		}
	}
	return all
}
