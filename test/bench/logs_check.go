//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// tasksEnded is when the last task of a run ended, in milliseconds after began.
func (t *torrent) tasksEnded(id string, began time.Time) (float64, error) {
	text, err := finish(t.b.command("logs", "get", id, "-o", "json"))
	if err != nil {
		return 0, err
	}
	var r struct {
		Tasks []struct {
			Ended time.Time `json:"ended"`
		} `json:"tasks"`
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return 0, err
	}
	var last time.Time
	for _, task := range r.Tasks {
		if task.Ended.After(last) {
			last = task.Ended
		}
	}
	if len(r.Tasks) != writers || last.Before(began) {
		return 0, fmt.Errorf("the record of %s has %d tasks, the last ended at %v: %w", id, len(r.Tasks), last, errWrong)
	}
	return ms(last.Sub(began)), nil
}

// countOutput runs a command and counts what it writes. The bytes are moved to
// /dev/null inside the kernel, so that counting takes nothing from who writes.
func countOutput(c *exec.Cmd) (int64, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	c.Stdout = w
	err = c.Start()
	_ = w.Close()
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for {
		n, err := unix.Splice(int(r.Fd()), nil, int(null.Fd()), nil, 1<<20, 0)
		total += n
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 {
			return total, errors.Join(err, c.Wait())
		}
	}
}

// check compares what was kept with the raw files, byte for byte the first
// time and by size later, and removes the run.
func (t *torrent) check(kind, id string) error {
	for n := range writers {
		kept := filepath.Join(t.b.path("logs"), "runs", id, "logs", fmt.Sprintf("worker-%d", n), "1.1", "stdout")
		if err := t.compare(kept, filepath.Join(t.b.path("raw"), fmt.Sprintf("worker-%d", n)), t.checked[kind]); err != nil {
			return err
		}
	}
	t.checked[kind] = true
	_, err := finish(t.b.command("logs", "rm", id))
	return err
}

func (t *torrent) compare(kept, raw string, sizeOnly bool) error {
	for _, path := range []string{kept, raw} {
		st, err := os.Stat(path)
		if err != nil {
			return err
		}
		if st.Size() != t.each {
			return fmt.Errorf("%s has %d of %d bytes: %w", path, st.Size(), t.each, errWrong)
		}
	}
	if sizeOnly {
		return nil
	}
	return sameContent(kept, raw)
}

func sameContent(a, b string) error {
	x, err := os.Open(a)
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return err
	}
	defer y.Close()
	p, q := make([]byte, 1<<20), make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(x, p)
		m, _ := io.ReadFull(y, q)
		if !bytes.Equal(p[:n], q[:m]) {
			return fmt.Errorf("%s is not what the task wrote: %w", a, errWrong)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
