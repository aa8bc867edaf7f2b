//go:build linux

package process

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestPeerIsTheOneThatDialled(t *testing.T) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ours, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	conn, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	if pid, uid, err := Peer(conn); err != nil || pid != os.Getpid() || uid != os.Getuid() {
		t.Errorf("got process %d of user %d, %v; want ourselves", pid, uid, err)
	}
	_ = conn.Close()
	if _, _, err := Peer(conn); err == nil {
		t.Error("a closed stream has no other end")
	}
}

func TestHandleTellsTheEnd(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	handle, err := Hold(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	if Ended(handle, 0) {
		t.Error("it has ended before its input has")
	}
	_ = in.Close()
	if !Ended(handle, time.Minute) {
		t.Error("its end does not show")
	}
	AwaitEnd(handle) // at once, although nobody has waited for it yet
	_ = cmd.Wait()
	if _, err := Hold(cmd.Process.Pid); err == nil {
		t.Error("a process that is gone can be held")
	}
}
