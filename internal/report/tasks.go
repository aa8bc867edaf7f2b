package report

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// sinceStart is how long the attempt's tasks have all been running.
func sinceStart(r run.Run, now time.Time) time.Duration {
	var newest time.Time
	for _, i := range r.Tasks {
		if i.Started.After(newest) {
			newest = i.Started
		}
	}
	if newest.IsZero() {
		return 0
	}
	return now.Sub(newest)
}

// notJoined are the tasks that the others may be waiting for. Where nobody
// named the framework, and nobody has joined, the program does not use it.
func notJoined(r run.Run) []engine.Instance {
	var late []engine.Instance
	for _, i := range r.Tasks {
		if !i.Over() && !i.Joined {
			late = append(late, i)
		}
	}
	if r.Progress.Joined || r.Spec.Framework.Inferred && len(late) == len(r.Spec.Tasks()) {
		return nil
	}
	return late
}

func alive(r run.Run) []string {
	var all []string
	for _, i := range r.Tasks {
		if !i.State.Gone() {
			all = append(all, i.Task.String())
		}
	}
	return all
}

// longestSilent is the task that has been silent longest; of several that fell
// silent together, the one that does least.
func longestSilent(r run.Run) (longest engine.Instance, ok bool) {
	for _, i := range r.Tasks {
		if i.Over() {
			continue
		}
		ahead := i.Usage.Silent.Truncate(time.Second) - longest.Usage.Silent.Truncate(time.Second)
		if !ok || ahead > 0 || ahead == 0 && i.Usage.CPU < longest.Usage.CPU {
			longest, ok = i, true
		}
	}
	return longest, ok
}

func leastSilent(r run.Run) time.Duration {
	least := time.Duration(-1)
	for _, i := range r.Tasks {
		if !i.Over() && (least < 0 || i.Usage.Silent < least) {
			least = i.Usage.Silent
		}
	}
	return max(least, 0)
}

// describe is one task with the evidence of what it does.
func describe(i engine.Instance, now time.Time) string {
	if i.State != engine.Running {
		return fmt.Sprintf("%s   %s", i.Task, i.State)
	}
	return fmt.Sprintf("%s   pid %d, running %s, silent %s, cpu %.0f%%", i.Task, i.Pid, ui.Took(now.Sub(i.Started)), ui.Took(i.Usage.Silent), 100*i.Usage.CPU)
}

// state is one task in a few words.
func state(i engine.Instance, now time.Time) string {
	if i.State != engine.Running {
		return string(i.State)
	}
	s := fmt.Sprintf("running %s, silent %s, cpu %.0f%%, mem %s", ui.Took(now.Sub(i.Started)), ui.Took(i.Usage.Silent), 100*i.Usage.CPU, ui.ShortBytes(i.Usage.Memory))
	if !i.Joined {
		s += ", has not joined"
	}
	if len(i.Listen) > 0 {
		s += ", listens on " + strings.Join(Addresses(i), " ")
	}
	return s
}

// Addresses are where a task serves.
func Addresses(i engine.Instance) (all []string) {
	for _, port := range i.Listen {
		all = append(all, net.JoinHostPort(i.Addr, strconv.Itoa(port)))
	}
	return all
}
