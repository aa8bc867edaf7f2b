package main

import (
	"errors"
	"os"
	"strconv"
	"time"
)

// kinds are all steps, in the order in which usage lists them.
var kinds []kind

// The table refers to steps that start trainer again, which read the table.
func init() {
	kinds = []kind{
		{form: "print=TEXT[,N]", help: "write TEXT as a line to stdout, N times", make: printTo(os.Stdout)},
		{form: "stderr=TEXT[,N]", help: "the same to stderr", make: printTo(os.Stderr)},
		{form: "partial=TEXT", help: "write TEXT without a newline", make: partial},
		{form: "bytes=N[,NAME]", help: "write N bytes of lines that depend on NAME only (default: the task)", make: bytesTo(os.Stdout)},
		{form: "errbytes=N[,NAME]", help: "the same to stderr", make: bytesTo(os.Stderr)},
		{form: "rate=N", help: "from here on at most N lines a second", make: rate},
		{form: "tqdm=N", help: "a progress bar of N steps on stderr, with carriage returns", make: progress},
		{form: "env=NAME", help: "print a variable; PREFIX* prints all that begin so", make: printEnv},
		{form: "cwd", help: "print the working directory", make: always(printCwd)},

		{form: "sleep=DURATION", help: "do nothing", make: forTime(time.Sleep)},
		{form: "spin=DURATION", help: "use the processor", make: forTime(spin)},
		{form: "alloc=SIZE", help: "take memory and touch it", make: alloc},
		{form: "forever", help: "sleep until killed", make: always(forever)},

		{form: "exit=N", help: "exit with code N", make: exit},
		{form: "signal=NAME", help: "send a signal to itself, with its default effect", make: signalSelf},
		{form: "panic", help: "die with a stack trace", make: always(func(*trainer) error { panic("as the script says") })},
		{form: "ignore=NAME[,NAME]", help: "ignore signals from here on", make: ignore},
		{form: "onterm=N[,DURATION]", help: "on SIGTERM say so, wait, exit with code N", make: onTerm},

		{form: "fork", help: "leave a child in the same process group", make: leaving(child{})},
		{form: "setsid", help: "leave a child in its own session", make: leaving(child{session: true})},
		{form: "daemon", help: "leave an orphan: own session, no environment, ignores SIGTERM", make: always(leaveDaemon)},
		{form: "orphan=RUN", help: "what daemon runs in between", make: orphan},
		{form: "ready=FD", help: "tell the process that left this one behind", make: ready},
		{form: "hold RUN", help: "be a child left behind by that run: sleep until killed", make: func(string) (action, error) { return forever, nil }},

		{form: "file=PATH,TEXT", help: "append TEXT as a line", make: appendFile},
		{form: "touch=PATH", help: "make a file", make: touch},
		{form: "wait=PATH[,DURATION]", help: "wait until a file is there (default: for ever)", make: waitFor},
		{form: "lock=PATH", help: "hold PATH.ATTEMPT; exit 99 when another attempt holds its own", make: lock},
		{form: "record=PATH[,EVENT]", help: "append a JSON line: run, task, attempt, try, pid, event, time", make: record},

		{form: "listen=NAME", help: "listen on 127.0.0.1:$NAME", make: listen},
		{form: "dial=NAME[,DURATION]", help: "connect to $NAME, a port or host:port, and stay so", make: dial},
		{form: "join[=strict]", help: "meet the others as DMLC_* or MASTER_* say; strict: exit 1 when one is lost", make: join},

		{form: "only=TASK[,ATTEMPT]", help: "do the next step in that task only; worker-* is a pattern", cond: only},
		{form: "onattempt=N", help: "do the next step in that attempt only", cond: onAttempt},
	}
}

// always is for steps without a value.
func always(do action) func(string) (action, error) {
	return func(string) (action, error) { return do, nil }
}

func forTime(do func(time.Duration)) func(string) (action, error) {
	return func(value string) (action, error) {
		d, err := time.ParseDuration(value)
		return func(*trainer) error { do(d); return nil }, err
	}
}

func forever(*trainer) error {
	for {
		time.Sleep(time.Hour)
	}
}

func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

func alloc(value string) (action, error) {
	n, err := size(value)
	return func(t *trainer) error {
		block := make([]byte, n)
		for i := 0; i < len(block); i += os.Getpagesize() {
			block[i] = 1
		}
		t.memory = append(t.memory, block)
		return nil
	}, err
}

func exit(value string) (action, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > 255 {
		return nil, errors.New("want 0 to 255")
	}
	return func(*trainer) error { return status{code: n} }, nil
}
