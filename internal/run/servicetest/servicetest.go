// Package servicetest is the conformance suite of run services: what
// run.Service says, tried with jobs that are a line of shell each.
package servicetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// Options are one service, as a test wires it.
type Options struct {
	// New returns a service without runs. It is given what nobody needs any
	// more when the test ends.
	New func(t *testing.T) run.Service

	// Attached says how runs are submitted.
	Attached bool
}

// patience bounds every wait; none is meant to take so long.
const patience = 90 * time.Second

// Run runs the suite.
func Run(t *testing.T, o Options) {
	for _, c := range []struct {
		name string
		try  func(*bench)
	}{
		{"a submitted run is there at once", submitted},
		{"what is wrong is refused and not kept", refused},
		{"what tasks inherit is in no record", private},
		{"what a job suspends waits", bornSuspended},
		{"many runs at once each have their verdict", many},
		{"a ref is an id, a name or nothing", refs},
		{"an unknown run is not found", unknown},
		{"pages are newest first and complete", pages},
		{"a watch sees the whole life of a run", watch},
		{"a watch ends when it is told to", watchEnds},
		{"an ended run is seen once", watchEnded},
		{"output is selected by task", logTasks},
		{"the last lines are the last", logTail},
		{"a line without end is given in pieces", logLongLine},
		{"output is kept by attempt", logAttempts},
		{"output is selected by its time", logSince},
		{"what is followed is whole", logFollow},
		{"reading output ends when it is told to", logEnds},
		{"a stop is stored and carried out", stop},
		{"a stop is not taken back", stopStays},
		{"suspended, a run comes back as another attempt", suspend},
		{"a suspended run can be stopped", stopSuspended},
		{"an ended run does not change", ended},
		{"only an ended run can be removed", remove},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.try(&bench{T: t, o: o, s: o.New(t), dir: t.TempDir()})
		})
	}
}

// A bench is where one case is tried.
type bench struct {
	*testing.T
	o   Options
	s   run.Service
	dir string // where jobs run
}

// job is one whose workers all run a line of shell.
func (b *bench) job(name string, workers int, script string) job.Spec {
	return job.Spec{
		Name: name, Framework: job.Framework{Name: "plain"},
		Roles:   map[string]*job.Role{"worker": {Replicas: workers, Command: []string{"/bin/sh", "-c", script}}},
		Restart: job.Restart{Backoff: job.Duration(time.Millisecond)},
	}
}

// gate is shell that waits for open.
const gate = "while ! [ -e gate ]; do sleep 0.02; done; "

func (b *bench) open() {
	b.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, "gate"), nil, 0o644); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) submission(spec job.Spec) run.Submission {
	return run.Submission{Spec: spec, Attached: b.o.Attached, Origin: run.Origin{Dir: b.dir}, Env: os.Environ()}
}

func (b *bench) submit(spec job.Spec) run.Run {
	b.Helper()
	r, err := b.s.Submit(b.Context(), b.submission(spec))
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func (b *bench) get(ref string) run.Run {
	b.Helper()
	r, err := b.s.Get(b.Context(), ref)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func (b *bench) update(id string, i run.Intent) run.Run {
	b.Helper()
	r, err := b.s.Update(b.Context(), id, i)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

var errEnough = errors.New("enough")

// until watches a run until it is as cond wants it.
func (b *bench) until(id, what string, cond func(run.Run) bool) run.Run {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	var last run.Run
	err := b.s.Watch(ctx, id, func(r run.Run) error {
		last = r
		if cond(r) {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		b.Fatalf("waited for %s: %v; %s is %s (%s)", what, err, id, last.Phase, last.Reason)
	}
	return last
}

func (b *bench) running(id string) run.Run {
	b.Helper()
	return b.until(id, "its start", func(r run.Run) bool { return r.Phase == run.Running })
}

// end waits for the end of a run, and how it ends.
func (b *bench) end(id string, phase run.Phase, code int) run.Run {
	b.Helper()
	r := b.until(id, "its end", func(r run.Run) bool { return r.Done() })
	if r.Phase != phase || r.Verdict == nil || r.Verdict.Exit.Code != code {
		b.Fatalf("%s is %s, verdict %+v; want %s with code %d", id, r.Phase, r.Verdict, phase, code)
	}
	return r
}

func (b *bench) wantKind(err error, k problem.Kind) {
	b.Helper()
	if err == nil || problem.KindOf(err) != k {
		b.Errorf("%v, want an error of kind %s", err, k)
	}
}

// logs is the output of a run by task and stream: "worker-0 stdout".
func (b *bench) logs(id string, q run.LogQuery) map[string]string {
	b.Helper()
	out := map[string]string{}
	err := b.s.Logs(b.Context(), id, q, func(c run.LogChunk) error {
		out[c.Instance.Task.String()+" "+string(c.Stream)] += string(c.Data)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// written waits until a run has written something.
func (b *bench) written(id, text string) {
	b.Helper()
	b.await(text, func() bool { return strings.Contains(b.logs(id, run.LogQuery{Tail: -1})["worker-0 stdout"], text) })
}

// await polls for what nobody tells us of.
func (b *bench) await(what string, cond func() bool) {
	b.Helper()
	for end := time.Now().Add(patience); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			b.Fatalf("waited for %s in vain", what)
		}
	}
}
