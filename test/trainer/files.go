package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// inherited is the lowest number for files that children inherit.
const inherited = 100

// poll is how often a step looks for what it waits for.
const poll = 5 * time.Millisecond

func appendFile(value string) (action, error) {
	name, text, ok := strings.Cut(value, ",")
	if !ok {
		return nil, errors.New("want file=PATH,TEXT")
	}
	return func(*trainer) error { return appendTo(expand(name), []byte(expand(text)+"\n")) }, nil
}

// appendTo writes with one call, so that processes do not mix their lines.
func appendTo(name string, line []byte) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

func touch(value string) (action, error) {
	return func(*trainer) error { return appendTo(expand(value), nil) }, nil
}

func waitFor(value string) (action, error) {
	name, limit, err := valueWait(value, 0)
	return func(*trainer) error {
		for begin := time.Now(); ; time.Sleep(poll) {
			_, err := os.Stat(expand(name))
			if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if limit > 0 && time.Since(begin) > limit {
				return fmt.Errorf("not there after %v", limit)
			}
		}
	}, err
}

// lock proves that no two attempts of a run are alive at once. Tasks of one
// attempt share the lock on PATH.ATTEMPT; PATH itself is only held to look.
// Children that are left behind inherit the lock: while they live, so does
// the attempt.
func lock(value string) (action, error) {
	return func(t *trainer) error {
		name := expand(value)
		guard, err := openLocked(name, syscall.LOCK_EX)
		if err != nil {
			return err
		}
		defer guard.Close()
		mine, err := openLocked(name+"."+t.attempt, syscall.LOCK_SH)
		if err != nil {
			return err
		}
		defer mine.Close()
		// The copy stays open, and across exec; out of the way of the numbers
		// that children are given.
		if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, mine.Fd(), syscall.F_DUPFD, inherited); errno != 0 {
			return errno
		}
		return t.alone(name)
	}, nil
}

// alone looks for other attempts that hold their lock.
func (t *trainer) alone(name string) error {
	others, err := filepath.Glob(name + ".*")
	for _, other := range others {
		attempt := strings.TrimPrefix(other, name+".")
		if _, err := strconv.Atoi(attempt); err != nil || attempt == t.attempt {
			continue
		}
		f, err := openLocked(other, syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return status{exitLock, fmt.Sprintf("attempt %s of %s is still alive beside attempt %s: %s is held", attempt, t.run, t.attempt, other)}
		}
		if err != nil {
			return err
		}
		f.Close()
	}
	return err
}

func openLocked(name string, how int) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// A line is what record writes.
type line struct {
	Run     string    `json:"run"`
	Task    string    `json:"task"`
	Attempt string    `json:"attempt"`
	Try     string    `json:"try,omitempty"`
	PID     int       `json:"pid"`
	Event   string    `json:"event"`
	Time    time.Time `json:"time"`
}

func record(value string) (action, error) {
	name, event, ok := strings.Cut(value, ",")
	if !ok {
		event = "start"
	}
	return func(t *trainer) error {
		text, err := json.Marshal(line{t.run, t.task, t.attempt, t.try, os.Getpid(), expand(event), time.Now()})
		if err != nil {
			return err
		}
		return appendTo(expand(name), append(text, '\n'))
	}, nil
}
