package rendezvous

import (
	"fmt"
	"slices"
	"strings"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// identity are the variables by which tasks, and whoever cleans up after them,
// know what they belong to. No job may change them.
var identity = []string{
	"MUSTER_RUN", "MUSTER_JOB", "MUSTER_GROUP", "MUSTER_ATTEMPT",
	"MUSTER_ROLE", "MUSTER_TASK", "MUSTER_TASK_INDEX", "MUSTER_PORT", "MUSTER_PORTS",
}

func invalid(field, format string, args ...any) *problem.Error {
	p := problem.New(problem.Invalid, format, args...)
	p.Field = field
	return p
}

// checkRoles refuses tasks of roles that the framework does not know: they
// would be started, and never be told where the others are.
func checkRoles(s *job.Spec, known ...string) (l problem.List) {
	for _, role := range s.RoleNames() {
		if !slices.Contains(known, role) {
			l = append(l, invalid("roles."+role, "%s has no such role; it knows %s",
				s.Framework.Name, strings.Join(known, ", ")).
				WithHint("framework: plain takes any role"))
		}
	}
	return l
}

// checkAtLeastOne refuses a job that lacks a role the framework needs.
func checkAtLeastOne(s *job.Spec, role string) problem.List {
	if n := s.TaskCount(role); n < 1 {
		return problem.List{invalid("roles."+role+".replicas", "must be at least 1 for %s, is %d", s.Framework.Name, n).
			WithHint("%ss: 1 is the short form", role)}
	}
	return nil
}

// checkOne refuses a role that a framework has exactly one task of.
func checkOne(s *job.Spec, role string) problem.List {
	if n := s.TaskCount(role); n != 1 {
		return problem.List{invalid("roles."+role+".replicas", "must be 1 for %s, is %d", s.Framework.Name, n)}
	}
	return nil
}

// checkProcs refuses several processes per replica, which the framework does
// not number.
func checkProcs(s *job.Spec) (l problem.List) {
	for _, role := range s.RoleNames() {
		if p := s.Roles[role].Procs; p != "" && p != "1" {
			l = append(l, invalid("roles."+role+".procs", "%s has one process per replica, is %s", s.Framework.Name, p).
				WithHint("more replicas do the same on one machine"))
		}
	}
	return l
}

// checkOptions refuses the options of other frameworks, and impossible ports.
func checkOptions(f job.Framework, known ...string) (l problem.List) {
	for _, o := range []struct {
		name string
		set  bool
	}{
		{"flavour", f.Flavour != ""},
		{"options", len(f.Options) > 0},
		{"launcher", f.Launcher != ""},
		{"port", f.Port != 0},
		{"van", f.Van != ""},
		{"interface", f.Interface != ""},
		{"heartbeat", f.Heartbeat != 0},
		{"key", f.Key != ""},
	} {
		if o.set && !slices.Contains(known, o.name) {
			text := "it has none"
			if len(known) > 0 {
				text = "it has " + strings.Join(known, ", ")
			}
			l = append(l, invalid("framework."+o.name, "not an option of %s; %s", f.Name, text))
		}
	}
	if f.Port < 0 || f.Port > 65535 {
		l = append(l, invalid("framework.port", "must be between 1 and 65535, is %d", f.Port))
	}
	return l
}

// checkScope refuses to restart less than the whole gang.
func checkScope(s *job.Spec, why string) (l problem.List) {
	refuse := func(field, scope string) {
		if scope == "role" || scope == "task" {
			l = append(l, invalid(field, "must be job for %s, is %s: %s", s.Framework.Name, scope, why).
				WithHint("scope: job restarts the whole gang"))
		}
	}
	refuse("restart.scope", s.Restart.Scope)
	for _, role := range s.RoleNames() {
		if r := s.Roles[role].Restart; r != nil {
			refuse("roles."+role+".restart.scope", r.Scope)
		}
	}
	return l
}

// checkEnv refuses variables of the job that Muster sets itself: a second
// opinion about them ends in a gang that waits for ever.
func checkEnv(s *job.Spec, set ...string) (l problem.List) {
	for _, name := range append(slices.Clone(identity), set...) {
		by := "Muster"
		if !slices.Contains(identity, name) {
			by += " for " + s.Framework.Name
		}
		for _, field := range envFields(s, name) {
			l = append(l, invalid(field, "set by %s; remove it", by))
		}
	}
	return l
}

// envFields returns where a job sets a variable: once, at the top, if every
// role has it.
func envFields(s *job.Spec, name string) (fields []string) {
	roles := s.RoleNames()
	for _, role := range roles {
		if hasEnv(s.Roles[role], name) {
			fields = append(fields, fmt.Sprintf("roles.%s.env.%s", role, name))
		}
	}
	if len(fields) > 0 && len(fields) == len(roles) {
		return []string{"env." + name}
	}
	return fields
}

func hasEnv(r *job.Role, name string) bool {
	if r == nil {
		return false
	}
	_, ok := r.Env[name]
	return ok || slices.Contains(r.EnvFrom, name)
}
