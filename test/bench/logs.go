//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// writers is how many tasks write at once.
const writers = 8

// A torrent is the measurement of a lot of output.
type torrent struct {
	b       *bench
	trainer string
	each    int64 // bytes per task
	checked map[string]bool
}

func measureLogs(b *bench) error {
	t := &torrent{b: b, each: 256 << 20, checked: map[string]bool{}}
	if b.quick {
		t.each = 32 << 20
	}
	var err error
	if t.trainer, err = b.trainer(); err != nil {
		return err
	}
	const raw, alone, attached, follower = "shell, 8 raw files", "muster run -d, nobody looking", "muster run > /dev/null", "muster run -d and logs -f --raw"
	results, err := race(b.rounds(5), []contender{
		{name: raw, once: t.raw},
		{name: alone, once: t.detached},
		{name: attached, once: t.attached},
		{name: follower, once: t.followed},
	})
	if err != nil {
		return err
	}
	rate := func(s Samples) Samples {
		var out Samples
		for _, v := range s {
			out = append(out, float64(writers*t.each)/1e6/(v/1e3))
		}
		return out
	}
	r := b.report
	base := r.add(raw, "MB/s", rate(results[raw].of(0)), nil)
	r.add(alone, "MB/s", rate(results[alone].of(0)), base, ratioAtLeast(0.9))
	r.add(attached+", the tasks", "MB/s", rate(results[attached].of(1)), base, ratioAtLeast(0.9))
	r.add(attached+", until all is shown", "MB/s", rate(results[attached].of(0)), base)
	r.add(follower+", the tasks", "MB/s", rate(results[follower].of(0)), base, ratioAtLeast(0.9))
	r.add(follower+", until all is read", "MB/s", rate(results[follower].of(1)), base)
	r.add("bytes lost, of every round", "", Samples{0}, nil, atMost(0, "bytes")) // else there was an error
	return nil
}

// raw is the floor: the same programs write to files of their own.
func (t *torrent) raw() ([]float64, error) {
	dir := t.b.path("raw")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var script strings.Builder
	for n := range writers {
		fmt.Fprintf(&script, "%s bytes=%d,worker-%d > %s/worker-%d & ", t.trainer, t.each, n, dir, n)
	}
	for n := range writers { // opening for writing would empty them within the time
		_ = os.Remove(filepath.Join(dir, fmt.Sprintf("worker-%d", n)))
	}
	return timed(func() error { _, err := finish(exec.Command("/bin/sh", "-c", script.String()+"wait")); return err })
}

func (t *torrent) args(flags ...string) []string {
	flags = append([]string{"run", "--framework", "plain", "--name", "torrent", "-n", fmt.Sprint(writers)}, flags...)
	return append(flags, "--", t.trainer, fmt.Sprintf("bytes=%d", t.each))
}

// attached measures a run whose output is shown, to nobody: until muster run
// ends, and until the tasks had ended.
func (t *torrent) attached() ([]float64, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	var errs bytes.Buffer
	c := t.b.command("logs", t.args()...)
	c.Stdout, c.Stderr = null, &errs
	began := time.Now()
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, lastLines(errs.String(), 6))
	}
	wall := time.Since(began)
	id, _, _ := strings.Cut(errs.String(), " ")
	tasks, err := t.tasksEnded(id, began)
	return []float64{ms(wall), tasks}, errors.Join(err, t.check("attached", id))
}

// detached measures a run that nobody looks at.
func (t *torrent) detached() ([]float64, error) {
	began := time.Now()
	id, err := t.submit()
	if err != nil {
		return nil, err
	}
	if _, err := finish(t.b.command("logs", "wait", id)); err != nil {
		return nil, err
	}
	tasks, err := t.tasksEnded(id, began)
	return []float64{tasks}, errors.Join(err, t.check("detached", id))
}

func (t *torrent) submit() (string, error) {
	id, err := finish(t.b.command("logs", t.args("-d")...))
	return strings.TrimSpace(id), err
}

// followed measures a run whose output another process reads meanwhile: until
// its tasks had ended, and until everything was read.
func (t *torrent) followed() ([]float64, error) {
	began := time.Now()
	id, err := t.submit()
	if err != nil {
		return nil, err
	}
	c := t.b.command("logs", "logs", "-f", "--raw", id)
	n, err := countOutput(c)
	read := time.Since(began)
	if err != nil {
		return nil, err
	}
	if n != writers*t.each {
		return nil, fmt.Errorf("logs -f --raw gave %d of %d bytes: %w", n, writers*t.each, errWrong)
	}
	tasks, err := t.tasksEnded(id, began)
	return []float64{tasks, ms(read)}, errors.Join(err, t.check("followed", id))
}
