//go:build linux

package control

import (
	"slices"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// setupFirst runs its first argument as a script and then becomes the others,
// so that signals and exit codes are the command's own. A setup that fails is
// told where interpreters tell of their exceptions, with the code it ends with.
// It sets no variable: one of the same name would reach the command.
const setupFirst = `( [ -x /bin/bash ] && exec /bin/bash -e -c "$1"; exec /bin/sh -e -c "$1" ) || {
	set -- $?
	printf '{"pid":%d,"task":"%s","stage":"setup","code":%d}\n' "$$" "$MUSTER_HOOK_TASK" "$1" >>"$MUSTER_HOOK_FILE" || echo "muster: setup failed with code $1" >&2
	exit "$1"
}
shift
exec "$@"`

// setUp puts a role's setup before a task's command.
func setUp(to *engine.Launch, role *job.Role) {
	if role.Setup == "" {
		return
	}
	argv := to.Argv
	if c := to.Container; c != nil {
		argv = slices.Concat(c.Entrypoint, argv)
		c.Entrypoint, c.Keep = nil, false
	}
	to.Argv = append([]string{"/bin/sh", "-c", setupFirst, "setup", role.Setup}, argv...)
}

// afterSetup is the command that a launch becomes once it is set up.
func afterSetup(argv []string) []string {
	if len(argv) > 5 && argv[2] == setupFirst {
		return argv[5:]
	}
	return argv
}

// setupFaults lists the setups that cannot be run where they should be: once
// before the first process of a replica, and next to it.
func setupFaults(s *job.Spec) (l problem.List) {
	for _, name := range s.RoleNames() {
		r, at := s.Roles[name], "roles."+name+"."
		if r.Setup == "" {
			continue
		}
		if r.PerReplica() > 1 {
			l = append(l, &problem.Error{
				Kind: problem.Refused, Field: at + "setup", Text: "once for all processes of a replica is not supported yet", Hint: "procs: 1, or make it part of run",
			})
		}
		if r.Image != nil && r.Run == "" && r.Command == nil && len(containerOf(r).Entrypoint) == 0 {
			l = append(l, &problem.Error{
				Kind: problem.Refused, Field: at + "setup", Text: "needs to know what runs after it, and that is the image's own", Hint: "name it with run, command or container.entrypoint",
			})
		}
	}
	return l
}
