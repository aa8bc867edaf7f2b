//go:build linux

package process

import (
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
)

func TestHoldersNeverCollide(t *testing.T) {
	const holders, each = 8, 40
	var mu sync.Mutex
	var all []int
	var wg sync.WaitGroup
	for range holders {
		wg.Go(func() {
			ports, err := HoldPorts(each)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { Release(ports) })
			if n := Numbers(ports); !slices.IsSorted(n) || len(n) != each {
				t.Errorf("ports %v do not ascend", n)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, Numbers(ports)...)
		})
	}
	wg.Wait()
	slices.Sort(all)
	if len(slices.Compact(slices.Clone(all))) != holders*each {
		t.Errorf("a port is held twice: %v", all)
	}
}

// exclusive binds a port as a program does that does not share it.
func exclusive(t *testing.T, port int) error {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	return syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: port})
}

func TestHeldPort(t *testing.T) {
	ports, err := HoldPorts(1)
	if err != nil {
		t.Fatal(err)
	}
	port := ports[0].Number
	if err := exclusive(t, port); err != syscall.EADDRINUSE {
		t.Errorf("a stranger may bind it: %v", err)
	}
	for _, addr := range []string{"127.0.0.1", "0.0.0.0"} { // a task may bind either
		l, err := net.Listen("tcp4", fmt.Sprintf("%s:%d", addr, port)) // with SO_REUSEADDR
		if err != nil {
			t.Fatalf("its task may not listen: %v", err)
		}
		if !ReadSockets().Listening(port, []int{os.Getpid()}) {
			t.Error("nobody listens")
		}
		_ = l.Close()
	}
	Release(ports)
	if err := exclusive(t, port); err != nil {
		t.Errorf("it is not given back: %v", err)
	}
}

func TestHoldNone(t *testing.T) {
	if ports, err := HoldPorts(0); err != nil || len(ports) != 0 {
		t.Errorf("%v, %v", ports, err)
	}
}

func TestSocketsParse(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0 100 0 0 10 0
   1: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 222 1 0 20 4 30 10 -1
   2: 0100007F:1F90 0100007F:9C40 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0
   3: 00000000000000000000000000000000:FFFF 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 333 1
   4: cut short
`
	s := Sockets{map[string]int{}, map[string]int{}}
	s.parse([]byte(table))
	if fmt.Sprint(s.listening) != "map[111:8080 333:65535]" || fmt.Sprint(s.connected) != "map[222:8080]" {
		t.Errorf("listening %v, connected %v", s.listening, s.connected)
	}
}

func TestSocketsOfProcesses(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	other := start(t, nil, "sleep", "100")
	mine := []int{os.Getpid()}
	if s := ReadSockets(); !s.Listening(port, mine) || s.Listening(port, []int{other}) || s.Connected(port, mine) {
		t.Error("only this process listens, and nobody is connected")
	}
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if s := ReadSockets(); !s.Connected(port, append([]int{1 << 30}, mine...)) || s.Connected(port, []int{other}) {
		t.Error("only this process is connected")
	}
}
