package rendezvous

import (
	"fmt"
	"maps"
	"slices"

	"muster.dev/muster/internal/job"
)

// Faults returns every rule that a job breaks, completed or not: those that
// hold for all, and that every task has something to run.
func Faults(s *job.Spec) []job.Fault { return append(job.Check(s), idle(s)...) }

// workFields are those of a role that give it a program.
var workFields = []string{"run", "command", "args", "image"}

// idle finds tasks that have nothing to run, or that there are none at all.
func idle(s *job.Spec) (faults []job.Fault) {
	given := FactsOf(s.Framework.Name).Given
	tasks, busy := false, false
	for _, name := range slices.SortedFunc(maps.Keys(s.Roles), job.CompareRoles) {
		r := s.Roles[name]
		tasks = tasks || r.Replicas != 0
		switch {
		case r.Replicas == 0:
		case r.Run != "" || r.Command != nil || r.Args != nil || r.Image != nil: // an image brings a program
			busy = true
		case !slices.Contains(given, name):
			faults = append(faults, job.Fault{
				Path: []string{"roles", name, "run"}, Missing: workFields,
				Text: fmt.Sprintf("role %s has nothing to run; give run or command, here or at the top for all roles", name),
			})
		}
	}
	switch {
	case !tasks:
		return []job.Fault{{Path: []string{"roles"}, Text: "no role has any replicas, so there is nothing to start"}}
	case !busy && len(faults) > 0:
		return []job.Fault{{Path: []string{"run"}, Missing: workFields, Text: "the job has nothing to run; give run (a script) or command (a list)"}}
	case !slices.Contains(job.Frameworks, s.Framework.Name):
		return nil // the right one may bring what seems to be missing
	}
	return faults
}
