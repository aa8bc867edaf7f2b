//go:build linux

package taskhost

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/taskhost/process"
)

// A summoner starts a new owner for a detached run whose owner has died.
type summoner interface {
	summon(argv []string)
	// started says whether a child of ours is such an owner, not a task's.
	started(pid int) bool
}

// A directSummoner starts owners itself. In a PID namespace of our own that is
// impossible: they would die with us.
type directSummoner struct{ pids map[int]bool }

func (d *directSummoner) summon(argv []string) {
	if pid, err := startOwner(argv); err == nil {
		d.pids[pid] = true
	} else {
		fmt.Fprintln(os.Stderr, "muster taskhost:", err)
	}
}

func (d *directSummoner) started(pid int) bool { return d.pids[pid] }

// startOwner starts a process that has nothing to do with us but its parent.
func startOwner(argv []string) (int, error) {
	if len(argv) == 0 {
		return 0, nil
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	fd := null.Fd()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: []uintptr{fd, fd, fd}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start a new owner: %w", err)
	}
	return pid, nil
}

// A keptSummoner asks the keeper, which lives outside our PID namespace.
type keptSummoner struct{ keeper *os.File }

func (k *keptSummoner) summon([]string)  { _, _ = k.keeper.Write([]byte{summonByte}) }
func (k *keptSummoner) started(int) bool { return false }

const (
	goByte     = 'g' // keeper to host: your owner knows of you, begin
	summonByte = 'o' // host to keeper: start an owner
)

// summonIfAlone asks for an owner when there is none: three times a minute at
// most, so that an owner that cannot live does not eat the machine.
func (h *host) summonIfAlone() {
	if h.owner != nil || h.config.Attached {
		return
	}
	now := time.Now()
	for len(h.summons) > 0 && now.Sub(h.summons[0]) > time.Minute {
		h.summons = h.summons[1:]
	}
	n := len(h.summons)
	if n >= 3 || n > 0 && now.Sub(h.summons[n-1]) < 5*time.Second {
		return
	}
	crash.Point("host.summoning")
	h.summons = append(h.summons, now)
	h.summoner.summon(h.config.Own)
}

// samePeer refuses a process at the other end that is not of our own user. Who
// comes another way than through a socket of this machine has proved nothing.
func samePeer(conn net.Conn) error {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("%s may not own this run: it cannot be told who that is", conn.RemoteAddr())
	}
	_, uid, err := process.Peer(u)
	if err != nil {
		return err
	}
	if uid != os.Getuid() && uid != 0 {
		return fmt.Errorf("user %d may not own this run", uid)
	}
	return nil
}
