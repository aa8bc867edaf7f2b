package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

// A step is one argument, ready to be done.
type step struct {
	text string // as written
	when []condition
	do   action
}

type action func(*trainer) error

// A condition holds back the one step that follows it.
type condition func(*trainer) bool

func (s step) applies(t *trainer) bool {
	for _, c := range s.when {
		if !c(t) {
			return false
		}
	}
	return true
}

// A kind is what a step's name means. Exactly one of its functions is set.
type kind struct {
	form string // name, name=VALUE or name[=VALUE]
	help string
	make func(value string) (action, error)
	cond func(value string) (condition, error)
}

func (k kind) name() string {
	return strings.FieldsFunc(k.form, func(r rune) bool { return r == '=' || r == '[' || r == ' ' })[0]
}

// parse reads a whole script before any of it is done.
func parse(args []string) ([]step, error) {
	var script []step
	var when []condition
	for i := 0; i < len(args); i++ {
		text := args[i]
		if text == "hold" && i+1 < len(args) { // the one step of two words
			i++
			text += "=" + args[i]
		}
		do, cond, err := parseStep(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		if cond != nil {
			when = append(when, cond)
			continue
		}
		script = append(script, step{text, when, do})
		when = nil
	}
	if when != nil {
		return nil, errors.New("a condition without a step after it")
	}
	return script, nil
}

// parseStep returns an action or a condition.
func parseStep(text string) (action, condition, error) {
	name, value, hasValue := strings.Cut(text, "=")
	k, err := find(name)
	if err == nil {
		err = k.takes(hasValue)
	}
	if err != nil {
		return nil, nil, err
	}
	if k.cond != nil {
		c, err := k.cond(value)
		return nil, c, err
	}
	do, err := k.make(value)
	return do, nil, err
}

func find(name string) (kind, error) {
	for _, k := range kinds {
		if k.name() == name {
			return k, nil
		}
	}
	return kind{}, errors.New("unknown step")
}

func (k kind) takes(hasValue bool) error {
	optional := strings.Contains(k.form, "[=")
	wants := strings.ContainsAny(k.form, "= ")
	if hasValue && !wants || !hasValue && wants && !optional {
		return fmt.Errorf("want %s", k.form)
	}
	return nil
}

// textCount reads TEXT[,N]; a comma before anything but a number is text.
func textCount(value string) (string, int) {
	if at := strings.LastIndexByte(value, ','); at >= 0 {
		if n, err := strconv.Atoi(value[at+1:]); err == nil && n >= 0 {
			return value[:at], n
		}
	}
	return value, 1
}

// size reads 100, 64K, 8M or 1G, in powers of 1024.
func size(value string) (int64, error) {
	digits := strings.TrimRight(value, "KMG")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || len(value)-len(digits) > 1 {
		return 0, errors.New("want a size such as 100, 64K or 1G")
	}
	shift := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30}[value[len(digits):]]
	return n << shift, nil
}

// valueWait reads VALUE[,DURATION].
func valueWait(value string, wait time.Duration) (string, time.Duration, error) {
	value, text, ok := strings.Cut(value, ",")
	if !ok {
		return value, wait, nil
	}
	d, err := time.ParseDuration(text)
	return value, d, err
}

// only reads TASK[,ATTEMPT]; the task may be a pattern such as worker-*.
func only(value string) (condition, error) {
	task, attempt, _ := strings.Cut(value, ",")
	if _, err := path.Match(task, ""); err != nil {
		return nil, err
	}
	return func(t *trainer) bool {
		ok, _ := path.Match(task, t.task)
		return ok && (attempt == "" || attempt == t.attempt)
	}, nil
}

func onAttempt(value string) (condition, error) {
	if _, err := strconv.Atoi(value); err != nil {
		return nil, errors.New("want a number")
	}
	return func(t *trainer) bool { return t.attempt == value }, nil
}

// expand puts variables in, when the step is done and not before.
func expand(s string) string {
	return os.Expand(s, func(name string) string {
		if name == "$" {
			return "$"
		}
		return os.Getenv(name)
	})
}
