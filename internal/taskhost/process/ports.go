//go:build linux

package process

import (
	"fmt"
	"os"
	"slices"
	"syscall"
)

// A Port is a TCP port on loopback that is ours: bound, so that the kernel gives
// it to nobody else, but not listening, so that a task which sets SO_REUSEADDR,
// as ps-lite and torch do, can bind and listen on it while we hold it.
type Port struct {
	Number int
	fd     int
}

// HoldPorts holds n ports, in ascending order.
func HoldPorts(n int) ([]Port, error) {
	var ports []Port
	for range n {
		p, err := holdPort()
		if err != nil {
			Release(ports)
			return nil, fmt.Errorf("hold a port on 127.0.0.1: %w", err)
		}
		ports = append(ports, p)
	}
	slices.SortFunc(ports, func(a, b Port) int { return a.Number - b.Number })
	return ports, nil
}

func holdPort() (Port, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return Port{}, os.NewSyscallError("socket", err)
	}
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
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
	return Port{in4.Port, fd}, nil
}

// Release gives ports back.
func Release(ports []Port) {
	for _, p := range ports {
		_ = syscall.Close(p.fd)
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
