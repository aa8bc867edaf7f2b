package store

import (
	"strconv"
	"strings"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// A Mark is a position in the list of runs: behind the run it names. It stays
// good when that run is deleted.
type Mark struct {
	Created int64 // Unix nanoseconds
	ID      string
}

// MarkOf returns the position behind r.
func MarkOf(r run.Run) Mark { return Mark{r.Created.UnixNano(), r.ID} }

// String returns m as Page.Next has it.
func (m Mark) String() string { return strconv.FormatInt(m.Created, 10) + "." + m.ID }

// Newer says that m stands before o in the list. Runs created in the same
// instant are ordered by id, so that every implementation agrees.
func (m Mark) Newer(o Mark) bool {
	if m.Created != o.Created {
		return m.Created > o.Created
	}
	return m.ID > o.ID
}

// ParseMark reads what String wrote.
func ParseMark(s string) (Mark, error) {
	created, id, ok := strings.Cut(s, ".")
	n, err := strconv.ParseInt(created, 10, 64)
	if !ok || err != nil || id == "" {
		return Mark{}, problem.New(problem.Invalid, "%q is not a position in the list of runs", s).
			WithHint("give the next value of the page before, or nothing for the first page")
	}
	return Mark{n, id}, nil
}

// GroupOf is the id of a run's group, "" for none.
func GroupOf(r run.Run) string {
	if r.Group == nil {
		return ""
	}
	return r.Group.ID
}

// PageOf cuts runs, of which there may be one more than q asked for, to a page.
func PageOf(runs []run.Run, q run.Query) run.Page {
	if q.Limit <= 0 || len(runs) <= q.Limit {
		return run.Page{Runs: runs}
	}
	runs = runs[:q.Limit]
	return run.Page{Runs: runs, Next: MarkOf(runs[q.Limit-1]).String()}
}
