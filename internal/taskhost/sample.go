//go:build linux

package taskhost

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost/process"
)

// A sampler looks at the tasks from outside, at every tick or less often.
type sampler struct {
	// clock counts ticks that we were there for: a host that was stopped, or a
	// machine that slept, takes nothing for silence.
	clock     time.Duration
	last      time.Time
	nextSlow  time.Duration
	nextSizes time.Duration
	nextUse   time.Duration
	oomKills  int

	hook     *os.File
	hookRest []byte
}

const (
	slow   = 250 * time.Millisecond // looking for joined tasks, at the disk
	maxGap = time.Second            // a longer one means that we were not running
)

func (s *sampler) open(runDir string) error {
	if err := installHook(runDir); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(runDir, HookName), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	s.hook, s.last, s.oomKills = f, time.Now(), process.OOMKills()
	s.nextSlow, s.nextUse = slow, time.Second
	return err
}

// hookLines returns what has been written to the hook file.
func (s *sampler) hookLines() [][]byte {
	buf := make([]byte, 64<<10)
	n, _ := s.hook.Read(buf)
	if n == 0 {
		return nil
	}
	var lines [][]byte
	lines, s.hookRest = splitLines(append(s.hookRest, buf[:n]...))
	if len(s.hookRest) > len(buf) {
		s.hookRest = nil // no interpreter writes such a line
	}
	return lines
}

func (h *host) sample() {
	s := &h.sampler
	now := time.Now()
	s.clock += min(now.Sub(s.last), maxGap)
	s.last = now
	h.readHook()
	sizes := s.clock >= s.nextSizes
	if sizes { // a line is dated to a tick, and with many tasks to a few
		s.nextSizes = s.clock + max(tick, time.Duration(len(h.tasks))*tick/50) - tick/2
	}
	for _, t := range h.tasks {
		if t.seen.State == engine.Clearing {
			h.watchTeardown(t)
			continue
		}
		if t.pid == 0 || t.ended != nil {
			continue
		}
		if sizes {
			h.measure(t)
		}
		h.endHung(t, now)
		h.probe(t)
		if !t.killAt.IsZero() && !now.Before(t.killAt) {
			h.kill(t)
		}
	}
	if s.clock >= s.nextSlow {
		s.nextSlow = s.clock + slow
		h.sampleSlowly()
	}
	if s.clock >= s.nextUse {
		s.nextUse = s.clock + useInterval(s.clock, len(h.tasks))
		h.sampleUsage(now)
		s.oomKills = process.OOMKills()
	}
}

// useInterval is short while people watch a start, then five seconds; with many
// tasks a look is costly.
func useInterval(age time.Duration, tasks int) time.Duration {
	if age < 10*time.Second && tasks <= 50 {
		return time.Second
	}
	return 5 * time.Second
}

// measure dates what a task has written and holds it to its limit.
func (h *host) measure(t *task) {
	if h.date(t); h.over(t) {
		h.kill(t)
	}
}

// date notes how much a task has written by now.
func (h *host) date(t *task) {
	var sizes [2]int64
	for i, f := range []*os.File{t.out, t.err} {
		if st, err := f.Stat(); err == nil {
			sizes[i] = st.Size()
		}
	}
	if sizes == t.sizes {
		return
	}
	t.sizes, t.lastLoud = sizes, h.sampler.clock
	var rec [24]byte
	binary.LittleEndian.PutUint64(rec[:], uint64(h.clock.now().UnixNano()))
	binary.LittleEndian.PutUint64(rec[8:], uint64(sizes[0]))
	binary.LittleEndian.PutUint64(rec[16:], uint64(sizes[1]))
	if t.index == nil {
		t.index, _ = os.OpenFile(filepath.Join(LogDir(h.config.Dir, t.seen.Instance), "index"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	}
	_, _ = t.index.Write(rec[:]) // a line without a date is still a line
}

// over says, once, that a task has written more than it may.
func (h *host) over(t *task) bool {
	size, limit := t.sizes[0]+t.sizes[1], h.config.LogLimit
	if limit <= 0 || size <= limit || t.overLimit != "" {
		return false
	}
	t.overLimit = fmt.Sprintf("%d bytes, the limit is %s", size, job.Bytes(limit))
	return true
}

// sampleSlowly looks who has joined and whether there is room to write.
func (h *host) sampleSlowly() {
	h.summonIfAlone()
	var waiting []*task
	for _, t := range h.tasks {
		if t.pid != 0 && !t.seen.Joined && t.seen.State == engine.Running {
			waiting = append(waiting, t)
		}
	}
	if len(waiting) > 0 {
		sockets := process.ReadSockets()
		for _, t := range waiting {
			pids := t.tree()
			if p := t.launch.Joined; p.Listen != 0 && sockets.Listening(p.Listen, pids) || p.Connect != 0 && sockets.Connected(p.Connect, pids) {
				t.seen.Joined = true
				h.mark(t)
			}
		}
	}
	h.checkDisk()
	h.checkFolder()
}

// checkFolder ends a host whose run's folder was removed: nobody can find it there.
func (h *host) checkFolder() {
	if _, err := os.Stat(h.config.Dir); errors.Is(err, fs.ErrNotExist) && h.owner == nil {
		h.leashed = true
		h.stopAll(h.config.Signal, h.config.Grace)
	}
}

func (h *host) checkDisk() {
	if free, err := process.FreeBytes(h.config.Dir); err == nil && free < process.LeastFree {
		h.inTrouble(fmt.Errorf("the disk that holds %s is full: %d KB left, and runs need %d KB to end well", h.config.Dir, free/1000, process.LeastFree/1000))
	}
}

// inTrouble reports what keeps this node from going on.
func (h *host) inTrouble(err error) {
	if h.trouble == "" {
		h.trouble = err.Error()
		for _, t := range h.tasks {
			h.mark(t)
		}
	}
}

func (h *host) sampleUsage(now time.Time) {
	for _, t := range h.tasks {
		if t.pid == 0 || t.ended != nil {
			continue
		}
		cores, memory := t.meter.Read(t.tree(), now)
		t.seen.Usage = engine.Usage{CPU: cores, Memory: memory, Silent: h.sampler.clock - t.lastLoud, Output: t.sizes[0] + t.sizes[1]}
		h.mark(t)
	}
}
