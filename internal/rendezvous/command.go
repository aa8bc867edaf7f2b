package rendezvous

import (
	"maps"
	"slices"

	"muster.dev/muster/internal/job"
)

// hasCommand says that a role has a program to run.
func hasCommand(r *job.Role) bool { return r.Run != "" || len(r.Command)+len(r.Args) > 0 }

// ownCommand says that a role has a command, and not just the one that its job
// gives to every role.
func ownCommand(r, other *job.Role) bool {
	same := other != nil && r.Run == other.Run && slices.Equal(r.Command, other.Command) && slices.Equal(r.Args, other.Args)
	return hasCommand(r) && !same
}

// shareCommand makes a role run what another runs, where that runs it.
// Resources and placement stay its own: a worker's GPU is no use to it.
func shareCommand(r, other *job.Role) {
	r.Run, r.Command, r.Args = other.Run, slices.Clone(other.Command), slices.Clone(other.Args)
	sharePlace(r, other)
}

// sharePlace makes a role's tasks see what another's see.
func sharePlace(r, other *job.Role) {
	if r.Setup == "" && r.Teardown == "" {
		r.Setup, r.Teardown = other.Setup, other.Teardown
	}
	if r.Workdir == "" {
		r.Workdir = other.Workdir
	}
	if r.Image == nil {
		r.Image, r.Container = other.Image, other.Container
	}
	if r.Volumes == nil {
		r.Volumes = slices.Clone(other.Volumes)
	}
}

// imply adds a role of one task that a framework needs, with the variables of
// another, and returns it; one that the job has stays as it is.
func imply(s *job.Spec, role string, like *job.Role) *job.Role {
	if r := s.Roles[role]; r != nil {
		return r
	}
	r := &job.Role{Replicas: 1, Env: maps.Clone(like.Env), EnvFrom: slices.Clone(like.EnvFrom), EnvFile: like.EnvFile}
	s.Roles[role] = r
	return r
}

// rename gives a role that a short form has made, as "workers" does, the name
// that it has in this framework.
func rename(s *job.Spec, from, to string) {
	if r := s.Roles[from]; r != nil && s.Roles[to] == nil {
		s.Roles[to] = r
		delete(s.Roles, from)
	}
}
