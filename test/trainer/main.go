// Command trainer is the fake trainer of Muster's tests: its arguments are a
// script of steps, so that every failure can be written as a job.
//
//	trainer print=hello,3 sleep=100ms stderr=oops exit=7
//	trainer join only=worker-1 onattempt=1 signal=KILL forever
//
// Without arguments it lists the steps.
package main

import (
	"errors"
	"fmt"
	"os"
)

// What trainer exits with by itself; 1 is a step that did not work.
const (
	exitUsage = 2
	exitLock  = 99 // another attempt is alive
)

// A status ends the script with this exit code.
type status struct {
	code int
	text string // said on stderr, unless empty
}

func (s status) Error() string { return s.text }

func main() {
	script, err := parse(os.Args[1:])
	if err != nil || len(script) == 0 {
		usage(err)
		os.Exit(exitUsage)
	}
	t := newTrainer()
	code := run(t, script)
	if code == 0 {
		t.leave()
	}
	os.Exit(code)
}

// run takes the steps one after the other and returns the exit code.
func run(t *trainer, script []step) int {
	for _, s := range script {
		if !s.applies(t) {
			continue
		}
		err := s.do(t)
		var end status
		switch {
		case errors.As(err, &end):
			if end.text != "" {
				fmt.Fprintln(os.Stderr, "trainer:", end.text)
			}
			return end.code
		case err != nil:
			fmt.Fprintf(os.Stderr, "trainer: %s: %v\n", s.text, err)
			return 1
		}
	}
	return 0
}

func usage(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "trainer:", err)
	}
	fmt.Fprintln(os.Stderr, "usage: trainer STEP...; $NAME in a step is a variable, $$ a dollar sign")
	for _, k := range kinds {
		fmt.Fprintf(os.Stderr, "  %-22s %s\n", k.form, k.help)
	}
}
