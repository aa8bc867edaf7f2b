package engine

import (
	"strconv"
	"strings"
)

// Interrupted says that a Python program told of our signal as an exception.
func (i Instance) Interrupted() bool {
	return i.Asked && i.Raised != nil && i.Raised.Type == "KeyboardInterrupt"
}

// ExitCode is the instance's code as a shell gives it: 128+n for a signal.
func (i Instance) ExitCode() int {
	switch {
	case i.Raised != nil && (i.Raised.Hung || i.Asked && i.Cause == BySignal && !i.Interrupted()):
		return max(i.Code, 1) // it had failed before it was ended
	case i.Cause == BySignal, i.Cause == ByOOM:
		return 128 + SignalNumber(i.Signal)
	}
	return i.Code
}

// SignalNumber returns the Linux number of a signal, 9 for one not known. Not
// the system's own table: a control plane may be on another system than its nodes.
func SignalNumber(name string) int {
	if n, ok := signals[name]; ok {
		return n
	}
	// Real-time signals have no name: signal 40.
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "signal ")); err == nil && n > 0 && n < 65 {
		return n
	}
	return 9
}

var signals = map[string]int{
	"HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "TRAP": 5, "ABRT": 6, "BUS": 7, "FPE": 8, "KILL": 9, "USR1": 10,
	"SEGV": 11, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15, "STKFLT": 16, "XCPU": 24, "XFSZ": 25, "VTALRM": 26,
	"PROF": 27, "IO": 29, "POLL": 29, "PWR": 30, "SYS": 31,
}
