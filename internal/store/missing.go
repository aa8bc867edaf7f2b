package store

import "muster.dev/muster/internal/problem"

// Known is how many of the newest runs a store looks at to guess what a
// mistyped name should have been.
const Known = 100

// Missing is the problem of a ref that no run has. known are ids and names
// that could have been meant.
func Missing(ref string, known []string) error {
	if ref == "" {
		return problem.New(problem.NotFound, "there are no runs yet").
			WithHint("start one: muster run -n 2 -- python train.py")
	}
	p := problem.New(problem.NotFound, "no run or job is called %q", ref)
	if near := problem.Nearest(ref, known); near != "" {
		return p.WithHint("did you mean %s? muster ps -a lists all runs", near)
	}
	return p.WithHint("muster ps -a lists all runs")
}

// Taken is the problem of creating a run whose id another one has.
func Taken(id string) error {
	return problem.New(problem.Conflict, "there is already a run %s", id)
}
