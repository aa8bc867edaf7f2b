package cli

import (
	"slices"
	"strings"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// A misfit is a field of a job that does not fit this machine: what it names
// is not here.
type misfit struct {
	path []string
	err  *problem.Error
}

// A locator says where a job file has a field, and how it is called there.
type locator func(path ...string) (where, field string)

// lookUp takes from this machine what a job only names: variables and secrets.
// Without a file there is no locator.
func lookUp(s *run.Submission, at locator) error {
	var list problem.List
	for _, m := range slices.Concat(roleEnvironments(s), readSecrets(s)) {
		e := *m.err
		e.Kind, e.Field = problem.Invalid, strings.Join(m.path, ".")
		if at != nil {
			where, field := at(m.path...)
			if e.Field = field; e.Where == "" { // else it is in another file
				e.Where = where
			}
		}
		list = addOnce(list, &e)
	}
	return list.Err()
}

// addOnce leaves out what has been said of the same place already: a default is
// of every role and job.
func addOnce(list problem.List, e *problem.Error) problem.List {
	if slices.ContainsFunc(list, func(o *problem.Error) bool {
		return e.Where != "" && o.Where == e.Where && o.Text == e.Text
	}) {
		return list
	}
	return append(list, e)
}
