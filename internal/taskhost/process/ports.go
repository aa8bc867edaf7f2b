//go:build linux

package process

import (
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
)

// A Port is a TCP port that is ours: bound, so that the kernel gives it to
// nobody else, but not listening, so that a task which sets SO_REUSEADDR, as
// ps-lite, torch and nearly all servers do, can bind and listen on it while we
// hold it.
type Port struct {
	Number int
	fd     int
	sign   io.Closer // says whose it is; nil for a port that nobody can ask for by its number
}

// The addresses that a port is held on. One that others reach is held on all.
var (
	loopback = [4]byte{127, 0, 0, 1}
	anywhere = [4]byte{}
)

// HoldPorts holds n ports on loopback, in ascending order.
func HoldPorts(n int) ([]Port, error) { return holdFree(n, loopback) }

// HoldFree holds n ports on all addresses.
func HoldFree(n int) ([]Port, error) { return holdFree(n, anywhere) }

func holdFree(n int, addr [4]byte) ([]Port, error) {
	var ports []Port
	for range n {
		p, err := holdPort(addr)
		if err != nil {
			Release(ports)
			return nil, fmt.Errorf("hold a port: %w", err)
		}
		ports = append(ports, p)
	}
	slices.SortFunc(ports, func(a, b Port) int { return a.Number - b.Number })
	return ports, nil
}

func holdPort(addr [4]byte) (Port, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return Port{}, os.NewSyscallError("socket", err)
	}
	err = share(fd)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: addr})
	}
	var name syscall.Sockaddr
	if err == nil {
		name, err = syscall.Getsockname(fd)
	}
	in4, ok := name.(*syscall.SockaddrInet4)
	if err != nil || !ok {
		_ = syscall.Close(fd)
		return Port{}, os.NewSyscallError("bind", err)
	}
	return Port{Number: in4.Port, fd: fd}, nil
}

// Release gives ports back.
func Release(ports []Port) {
	for _, p := range ports {
		_ = syscall.Close(p.fd)
		if p.sign != nil {
			_ = p.sign.Close()
		}
	}
}

// Numbers returns the ports' numbers.
func Numbers(ports []Port) []int {
	out := make([]int, len(ports))
	for i, p := range ports {
		out[i] = p.Number
	}
	return out
}
