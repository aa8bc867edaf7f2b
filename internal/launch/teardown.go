package launch

import (
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

// leastTeardown is what a teardown is given even where tasks are given less time
// to end.
const leastTeardown = 5 * time.Second

// teardownOf is what comes after the last process of a task's replica. With an
// image every process has a container of its own, and with it a teardown.
func teardownOf(s *job.Spec, at Start) *engine.Teardown {
	role := s.Roles[at.Task.Role]
	if role.Teardown == "" {
		return nil
	}
	d := &engine.Teardown{Limit: max(s.Stop.GraceOr(), leastTeardown), Argv: []string{at.Node.Shell, "-e", "-c", role.Teardown}}
	if role.Image != nil {
		d.Argv = []string{"/bin/sh", "-c", shellInImage, role.Teardown}
	} else {
		d.Replica = s.ReplicaOf(at.Task)
	}
	return d
}
