// Package crash names the moments at which one of our processes may die or be
// stopped and everything must still come out right. The names are the same in
// every build; only one with the tag crashpoints acts on them.
//
// MUSTER_CRASH_AT says where: NAME[*N][=FILE], or stop:NAME[*N][=FILE]. The
// process that reaches NAME for the N-th time (the first, by default) is killed
// as by kill -9, or stopped as by SIGSTOP. With FILE that happens once: whoever
// makes FILE first, so that its heirs, who inherit the variable, live. FILE is
// then a link that leads to the time.
package crash

import (
	"strconv"
	"strings"
)

// Variable is what asks for a crash.
const Variable = "MUSTER_CRASH_AT"

// Points are all names, in the order in which a run passes them.
var Points = []string{
	"submit.before-create", // its folder is made, the run is not stored
	"submit.after-create",  // it is stored, and nobody owns it yet
	"own.locked",           // an owner in the background has the lock and no fence
	"own.fenced",           // it has its fence and has done nothing
	"owner.before-save",    // a decision is made and not stored
	"owner.after-save",     // it is stored and not brought about
	"owner.after-apply",    // the host has been told
	"host.forked",          // a host is there and nobody knows
	"keeper.host-started",  // the keeper has a host, the owner does not know
	"keeper.answered",      // the owner knows, the host waits for the keeper
	"local.before-greet",   // the owner has a host that it has not greeted
	"host.claimed",         // the host may be one, and is not on record
	"host.recorded",        // it is on record and has not answered
	"local.greeted",        // the host has answered
	"host.adopted",         // the host has taken an owner
	"host.start-journaled", // a start is in the journal and has not happened
	"host.spawned",         // it has happened and is noted nowhere
	"host.exit-seen",       // a task has ended, and the journal does not say so
	"host.teardown",        // a task's program has ended, its teardown runs
	"host.exit-journaled",  // the journal does, the owner does not know
	"host.summoning",       // the owner is lost, a new one is not yet asked for
	"local.before-sweep",   // the host is gone, what it left is not
	"owner.before-forget",  // the end is stored, the host is still there
	"host.leaving",         // the host is about to go
	"owner.after-forget",   // the host is gone, its files may not be
	"remove.before-delete", // the folder is removed, the record is not
}

// An order is what MUSTER_CRASH_AT asks.
type order struct {
	name string
	nth  int64
	file string // made first; when it is there already, nothing happens
	stop bool   // SIGSTOP instead of SIGKILL
}

// parse reads the variable's value. One that is not understood names no point.
func parse(value string) order {
	o := order{nth: 1}
	value, o.stop = strings.CutPrefix(value, "stop:")
	value, o.file, _ = strings.Cut(value, "=")
	name, count, counted := strings.Cut(value, "*")
	if counted {
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 1 {
			return order{}
		}
		o.nth = n
	}
	o.name = name
	return o
}
