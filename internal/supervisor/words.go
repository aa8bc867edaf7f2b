package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"muster.dev/muster/internal/engine"
)

// Describe says how an instance ended, in words.
func Describe(i engine.Instance) string {
	switch {
	case i.State == engine.Lost:
		return "was lost: " + orElse(i.Detail, "its task host is gone")
	case i.Raised != nil && !i.Interrupted() && (i.Failed() || i.Raised.Hung):
		return "raised " + exception(*i.Raised)
	case i.Cause == engine.StartFailed && i.Taken != nil:
		return fmt.Sprintf("could not be started: port %d (roles.%s.ports) is in use by %s; end that, or use port 0 and $MUSTER_PORT",
			i.Taken.Port, i.Task.Role, orElse(i.Taken.By, "another program"))
	case i.Cause == engine.StartFailed:
		return "could not be started: " + i.Detail
	case i.Cause == engine.ByLogLimit:
		return "wrote more than its logs.limit: " + i.Detail
	case i.Cause == engine.ByHealth:
		return "was ended: " + i.Detail
	case i.Cause == engine.ByOOM:
		what, _, _ := strings.Cut(i.Detail, "; ") // the rest is evidence
		return "ran out of memory" + inParens(what)
	case i.Cause == engine.ByPreempt:
		return "was preempted" + inParens(i.Detail)
	case i.Cause == engine.ByEvict:
		return "was evicted" + inParens(i.Detail)
	case i.Cause == engine.BySignal && i.Asked && !crash(i.Signal):
		return "was ended (" + signalName(i.Signal) + ")"
	case i.Cause == engine.BySignal:
		return "was " + signalWords(i.Signal)
	}
	return fmt.Sprintf("exited with code %d", i.Code)
}

func exception(e engine.Exception) string {
	if e.Text == "" {
		return e.Type
	}
	return e.Type + ": " + e.Text
}

func signalWords(name string) string {
	switch name {
	case "KILL":
		return "killed from outside (SIGKILL)"
	case "SEGV":
		return "ended by a segmentation fault (SIGSEGV)"
	case "ABRT":
		return "aborted (SIGABRT)"
	case "BUS":
		return "ended by a bus error (SIGBUS)"
	case "ILL":
		return "ended by an illegal instruction (SIGILL)"
	case "FPE":
		return "ended by an arithmetic error (SIGFPE)"
	}
	return "ended by a signal (" + signalName(name) + ")"
}

// signalName is a signal as people write it; real-time signals have no name.
func signalName(name string) string {
	if strings.HasPrefix(name, "signal ") {
		return name
	}
	return "SIG" + name
}

// crash says that a signal is raised by the hardware or the kernel on behalf of
// a broken program.
func crash(signal string) bool {
	return slices.Contains([]string{"SEGV", "BUS", "ILL", "FPE", "SYS"}, signal)
}

func orElse(s, or string) string {
	if s == "" {
		return or
	}
	return s
}

func inParens(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}
