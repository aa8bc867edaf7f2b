package cli

import (
	"context"
	"os"
	"strings"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// late is a service whose runs have ended before their last output comes.
type late struct {
	run.Service
	run  run.Run
	told chan struct{} // closed once the end is known
}

func (l late) Watch(_ context.Context, _ string, seen func(run.Run) error) error {
	defer close(l.told)
	return seen(l.run)
}

func (l late) Logs(_ context.Context, _ string, _ run.LogQuery, got func(run.LogChunk) error) error {
	<-l.told
	i := job.Instance{Task: job.Task{Role: "worker"}, Attempt: 1, Try: 1}
	return got(run.LogChunk{Instance: i, Stream: engine.Stdout, Data: []byte("last words")})
}

func TestEndAfterOutput(t *testing.T) {
	a := quiet(t)
	a.stderr = a.stdout
	r := ended(run.Succeeded, 0, "")
	r.Group, r.Reason = &run.Group{ID: "g-aaaa", Job: "fit"}, ""
	svc := late{run: r, told: make(chan struct{})}
	if err := newGroupSession(a, svc, []run.Run{r}).follow(t.Context(), make(chan os.Signal)); err != nil {
		t.Fatal(err)
	}
	out := said(t, a.stdout)
	words, end := strings.Index(out, "last words"), strings.Index(out, "fit Succeeded in")
	if words < 0 || end < words {
		t.Errorf("the end is not told, or before the last output:\n%s", out)
	}
}
