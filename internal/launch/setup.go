package launch

import (
	"slices"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// setupFirst runs its first argument as a script and then becomes the others,
// so that signals and exit codes are the command's own. How a setup ends is told
// where interpreters tell of their exceptions: others may wait for it, and its
// failure is not the command's.
// It sets no variable: one of the same name would reach the command.
const setupFirst = `( [ -x /bin/bash ] && exec /bin/bash -e -c "$1"; exec /bin/sh -e -c "$1" ) || {
	set -- $?
	printf '{"pid":%d,"task":"%s","stage":"setup","code":%d}\n' "$$" "$MUSTER_HOOK_TASK" "$1" >>"$MUSTER_HOOK_FILE" || echo "muster: setup failed with code $1" >&2
	exit "$1"
}
{ printf '{"pid":%d,"task":"%s","stage":"setup"}\n' "$$" "$MUSTER_HOOK_TASK" >>"$MUSTER_HOOK_FILE"; } 2>/dev/null || :
shift
exec "$@"`

// setUp puts a role's setup before a task's command, or has that wait for the
// first process of its replica, which does it for all. With an image every
// process has a container of its own to be set up.
func setUp(to *engine.Launch, s *job.Spec, t job.Task) {
	role := s.Roles[t.Role]
	if role.Setup == "" {
		return
	}
	if all := s.ReplicaOf(t); role.Image == nil && len(all) > 0 && t != all[0] {
		to.After = &all[0]
		return
	}
	argv := to.Argv
	if c := to.Container; c != nil {
		argv = slices.Concat(c.Entrypoint, argv)
		c.Entrypoint, c.Keep = nil, false
	}
	to.Argv = append([]string{"/bin/sh", "-c", setupFirst, "setup", role.Setup}, argv...)
}

// Parts are the script that comes before a launch's command, "" for none, and
// the command.
func Parts(l *engine.Launch) (setup string, command []string) {
	if len(l.Argv) > 5 && l.Argv[2] == setupFirst {
		return l.Argv[4], l.Argv[5:]
	}
	return "", l.Argv
}

// setupFaults lists the setups after which nobody knows what to run.
func setupFaults(s *job.Spec) (l problem.List) {
	for _, name := range s.RoleNames() {
		r, at := s.Roles[name], "roles."+name+"."
		if r.Setup == "" {
			continue
		}
		if r.Image != nil && r.Run == "" && r.Command == nil && len(r.ContainerOr().Entrypoint) == 0 {
			l = append(l, &problem.Error{
				Kind: problem.Refused, Field: at + "setup", Text: "needs to know what runs after it, and that is the image's own", Hint: "name it with run, command or container.entrypoint",
			})
		}
	}
	return l
}
