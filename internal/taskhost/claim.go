//go:build linux

package taskhost

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A claim makes its holder the only host of a run, and remembers the highest
// fence that a host of the run has seen. An owner may be stopped at any moment,
// also while it starts a host, and wake long after another has taken the run
// from it: what it then starts gets no claim and does nothing. The file stays
// when the run has ended, and so does what it forbids.
type claim struct{ f *os.File }

// ErrBusy says that the run has another host.
var ErrBusy = errors.New("another task host of this run is alive")

// claimPatience is for a host before us whose file descriptors the kernel is
// still closing.
const claimPatience = time.Second

// A staleClaim is a fence that is lower than one that was there before.
type staleClaim struct{ mine, seen int64 }

func (e staleClaim) Error() string {
	return fmt.Sprintf("a newer owner (%d) has taken over from %d", e.seen, e.mine)
}

func takeClaim(runDir string, fence int64) (*claim, error) {
	c, err := openClaim(runDir)
	if err != nil {
		return nil, err
	}
	err = c.lock()
	if err == nil {
		err = c.raise(fence)
	}
	if err != nil {
		_ = c.f.Close()
		return nil, err
	}
	return c, nil
}

func openClaim(runDir string) (*claim, error) {
	f, err := os.OpenFile(filepath.Join(runDir, ClaimName), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &claim{f}, nil
}

// Bar keeps hosts that an owner before the one with this fence has started from
// claiming the run from now on. It is ErrBusy when one has done so already. It
// takes no lock, as whoever calls it may be stopped at any moment.
func Bar(runDir string, fence int64) error {
	c, err := openClaim(runDir)
	if err != nil {
		return err
	}
	defer c.f.Close()
	if err := c.raise(fence); err != nil {
		return err
	}
	// Who has the lock by now may have looked before; who comes later has not.
	asked := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(c.f.Fd(), unix.F_OFD_GETLK, &asked); err != nil {
		return err
	}
	if asked.Type != unix.F_UNLCK {
		return ErrBusy
	}
	return nil
}

// lock makes us the only one, until our file descriptor is closed.
func (c *claim) lock() error {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := unix.FcntlFlock(c.f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
		if err == nil || time.Since(begin) > claimPatience {
			if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
				return ErrBusy
			}
			return err
		}
	}
}

// raise notes a fence, unless a higher one is noted. The file is a list that
// only grows: nobody, however late, can take back what another has noted.
func (c *claim) raise(fence int64) error {
	if _, err := c.f.Write(fmt.Appendf(nil, "%d\n", fence)); err != nil {
		return err
	}
	b, err := io.ReadAll(io.NewSectionReader(c.f, 0, 1<<20))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		if seen, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64); seen > fence {
			return staleClaim{fence, seen}
		}
	}
	return nil
}
