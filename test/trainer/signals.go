package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

var signals = map[string]syscall.Signal{
	"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "ILL": syscall.SIGILL, "ABRT": syscall.SIGABRT,
	"BUS": syscall.SIGBUS, "FPE": syscall.SIGFPE, "KILL": syscall.SIGKILL, "USR1": syscall.SIGUSR1, "SEGV": syscall.SIGSEGV,
	"USR2": syscall.SIGUSR2, "PIPE": syscall.SIGPIPE, "ALRM": syscall.SIGALRM, "TERM": syscall.SIGTERM, "STOP": syscall.SIGSTOP,
	"TSTP": syscall.SIGTSTP, "CONT": syscall.SIGCONT, "WINCH": syscall.SIGWINCH, "XCPU": syscall.SIGXCPU,
}

func signalNamed(name string) (syscall.Signal, error) {
	s, ok := signals[strings.TrimPrefix(name, "SIG")]
	if !ok {
		return 0, fmt.Errorf("unknown signal %s", name)
	}
	return s, nil
}

func signalSelf(value string) (action, error) {
	s, err := signalNamed(value)
	if err != nil {
		return nil, err
	}
	return func(t *trainer) error {
		// No core files in the folders of tests.
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
		restoreDefault(s)
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			return err
		}
		switch s {
		case syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGWINCH:
			return nil // these do not end a process: go on, when continued
		}
		return forever(t) // it arrives at another thread, perhaps later
	}, nil
}

// restoreDefault undoes the handlers of Go's runtime, which would turn a
// SIGSEGV into exit code 2, where package signal cannot.
func restoreDefault(s syscall.Signal) {
	var act [4]uint64 // a kernel's struct sigaction, all zero: SIG_DFL
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&act)), 0, 8, 0, 0)
}

func ignore(value string) (action, error) {
	var list []os.Signal
	for name := range strings.SplitSeq(value, ",") {
		s, err := signalNamed(name)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return func(*trainer) error { signal.Ignore(list...); return nil }, nil
}

func onTerm(value string) (action, error) {
	code, wait, err := valueWait(value, 0)
	n, err2 := strconv.Atoi(code)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return func(*trainer) error {
		got := make(chan os.Signal, 1)
		signal.Notify(got, syscall.SIGTERM)
		go func() {
			<-got
			fmt.Println("got SIGTERM")
			time.Sleep(wait)
			os.Exit(n)
		}()
		return nil
	}, nil
}
