package launch

import (
	"slices"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// Faults lists what a job asks of the start of its tasks and cannot have.
func Faults(s *job.Spec) problem.List {
	return slices.Concat(setupFaults(s), portFaults(s), healthFaults(s))
}
