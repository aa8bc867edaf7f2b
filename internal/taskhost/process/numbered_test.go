//go:build linux

package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
)

// freeNumber is a port that nobody has now.
func freeNumber(t *testing.T) int {
	t.Helper()
	ports, err := HoldFree(1)
	if err != nil {
		t.Fatal(err)
	}
	Release(ports)
	return ports[0].Number
}

func hold(t *testing.T, number int, holder string) Port {
	t.Helper()
	p, err := HoldNumber(number, holder)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHeldNumber(t *testing.T) {
	number := freeNumber(t)
	p := hold(t, number, "run web-1")
	if err := exclusive(t, number); err != syscall.EADDRINUSE {
		t.Errorf("a stranger may bind it: %v", err)
	}
	for _, addr := range []string{"127.0.0.1", "0.0.0.0", "[::]"} {
		l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", addr, number))
		if err != nil {
			t.Errorf("its task may not listen on %s: %v", addr, err)
			continue
		}
		_ = l.Close()
	}
	wantTaken(t, number, "run web-1")
	Release([]Port{p})
	if err := exclusive(t, number); err != nil {
		t.Errorf("it is not given back: %v", err)
	}
	Release([]Port{hold(t, number, "run web-2")})
}

func wantTaken(t *testing.T, number int, by string) {
	t.Helper()
	p, err := HoldNumber(number, "run web-2")
	var taken *Taken
	if !errors.As(err, &taken) || taken.Port != number || taken.By != by {
		t.Errorf("%v, %+v; want it taken by %q", err, p, by)
	}
	if err == nil {
		Release([]Port{p})
	}
}

func TestNumberThatOthersHave(t *testing.T) {
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	me := fmt.Sprintf("process %d (%s)", os.Getpid(), name[:len(name)-1])
	for _, addr := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::]:0"} {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		wantTaken(t, l.Addr().(*net.TCPAddr).Port, me)
		_ = l.Close()
	}
	free, err := HoldPorts(1)
	if err != nil {
		t.Fatal(err)
	}
	wantTaken(t, free[0].Number, "") // bound only: nobody can tell by whom
	Release(free)
}

// TestNumberWithAPast: what a server that has just ended leaves in the kernel
// does not keep the next one from its port, and two still cannot have it.
func TestNumberWithAPast(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	number := l.Addr().(*net.TCPAddr).Port
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close() // the side that closes first lingers
	_ = c.Close()
	_ = l.Close()
	if err := exclusive(t, number); err != syscall.EADDRINUSE {
		t.Fatalf("nothing lingers: %v", err)
	}
	p := hold(t, number, "run web-1")
	defer Release([]Port{p})
	wantTaken(t, number, "run web-1")
	again, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", number))
	if err != nil {
		t.Fatalf("its task may not listen: %v", err)
	}
	_ = again.Close()
}

func TestSignThatSaysNothing(t *testing.T) {
	number := freeNumber(t)
	sign, err := putSign(number, "\x1b[31mrun web-1")
	if err != nil {
		t.Fatal(err)
	}
	defer sign.Close()
	wantTaken(t, number, "")
}
