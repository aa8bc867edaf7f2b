package launch

import (
	"fmt"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// portFaults lists the ports that tasks cannot have: all of them are on one
// machine, where a number is there once.
func portFaults(s *job.Spec) (l problem.List) {
	first := map[int]string{} // who has a number already
	for _, name := range s.RoleNames() {
		r := s.Roles[name]
		refuse := func(n int, text, hint string) {
			l = append(l, &problem.Error{Kind: problem.Refused, Field: fmt.Sprintf("roles.%s.ports[%d]", name, n), Text: text, Hint: hint})
		}
		for n, port := range r.Ports {
			const free = "use 0 and $MUSTER_PORT"
			switch {
			case r.Image != nil && r.ContainerOr().Network != "host":
				refuse(n, "a container with a network of its own cannot be reached at a port of this machine", "network: host")
			case port == 0:
			case first[port] != "":
				refuse(n, fmt.Sprintf("role %s has port %d already, and it is there once on this machine", first[port], port), free)
			case s.TaskCount(name) > 1:
				refuse(n, fmt.Sprintf("%d tasks cannot all have port %d of this machine", s.TaskCount(name), port), free)
			}
			if port != 0 {
				first[port] = name
			}
		}
	}
	return l
}
