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
	f, err := os.OpenFile(filepath.Join(runDir, ClaimName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	c := &claim{f}
	err = c.lock(claimPatience)
	if err == nil {
		err = c.raise(fence)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return c, nil
}

// Bar keeps hosts that an owner before the one with this fence has started from
// claiming the run from now on. It is ErrBusy when one has done so already.
func Bar(runDir string, fence int64) error {
	f, err := os.OpenFile(filepath.Join(runDir, ClaimName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	c := &claim{f}
	if err := c.lock(0); err != nil {
		return err
	}
	return c.raise(fence)
}

func (c *claim) lock(patience time.Duration) error {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Flock(int(c.f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || time.Since(begin) >= patience {
			if err == unix.EWOULDBLOCK {
				return ErrBusy
			}
			return err
		}
	}
}

// raise notes a fence, unless a higher one is noted.
func (c *claim) raise(fence int64) error {
	b, err := io.ReadAll(io.NewSectionReader(c.f, 0, 64))
	if err != nil {
		return err
	}
	if seen, _ := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); seen > fence {
		return staleClaim{fence, seen}
	}
	// Fences only grow, and so do their digits: nothing of the old one is left.
	_, err = c.f.WriteAt(fmt.Appendf(nil, "%d\n", fence), 0)
	return err
}
