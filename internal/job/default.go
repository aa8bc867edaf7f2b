package job

import "time"

// The defaults that a job gets where it says nothing.
const (
	DefaultGrace      = 10 * time.Second
	DefaultBackoff    = 5 * time.Second
	MaxBackoff        = 5 * time.Minute
	DefaultRendezvous = 10 * time.Minute
)

// GraceOr is how long a task may take to end after it was asked.
func (s Stop) GraceOr() time.Duration {
	if s.Grace == nil {
		return DefaultGrace
	}
	return s.Grace.D()
}

// SignalOr is the signal that asks a task to end.
func (s Stop) SignalOr() string {
	if s.Signal == "" {
		return "TERM"
	}
	return s.Signal
}

// RendezvousOr is how long the tasks may take to find each other.
func (l Limits) RendezvousOr() time.Duration {
	if l.Rendezvous == 0 {
		return DefaultRendezvous
	}
	return l.Rendezvous.D()
}

// ScopeOf returns the restart scope that holds for a role. Tasks that serve do
// not depend on each other, unless their framework makes them.
func (s *Spec) ScopeOf(role string) string {
	scope := s.Restart.Scope
	if r := s.Roles[role]; r != nil && r.Restart != nil && r.Restart.Scope != "" {
		scope = r.Restart.Scope
	}
	switch {
	case scope != "":
		return scope
	case s.Success == "none":
		return "task"
	}
	return "job"
}

// WhenOf returns the restart condition that holds for a role.
func (s *Spec) WhenOf(role string) string {
	when := s.Restart.When
	if r := s.Roles[role]; r != nil && r.Restart != nil && r.Restart.When != "" {
		when = r.Restart.When
	}
	if when == "" {
		return "failure"
	}
	return when
}

// ContainerOr is how a role's containers are started, with what is meant where
// nothing is said.
func (r *Role) ContainerOr() Container {
	var c Container
	if r.Container != nil {
		c = *r.Container
	}
	if c.Network == "" {
		c.Network = "host"
	}
	return c
}

// HasImage says that some task runs in a container.
func (s *Spec) HasImage() bool {
	for _, r := range s.Roles {
		if r.Image != nil {
			return true
		}
	}
	return false
}
