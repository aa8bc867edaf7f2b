package cli

import "muster.dev/muster/internal/run"

// A document is a run as programs read it: what the store keeps, without the
// supervisor's memory, and with times that need no explanation.
type document struct {
	run.Run
	Seconds float64 `json:"took_seconds,omitempty"`

	// These take the places of the run's own, and are never there.
	Took     *struct{} `json:"took,omitempty"`
	Progress *struct{} `json:"progress,omitempty"`
	Machine  *struct{} `json:"machine,omitempty"`
}

func documentOf(r run.Run) document { return document{Run: r, Seconds: r.Took.Seconds()} }

func documentsOf(runs []run.Run) []document {
	list := make([]document, len(runs))
	for i, r := range runs {
		list[i] = documentOf(r)
	}
	return list
}
