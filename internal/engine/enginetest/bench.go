//go:build linux

package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster.dev/muster/internal/control"
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store/memory"
)

// patience bounds every wait; none is meant to take so long.
const patience = 90 * time.Second

// A bench is where one case is tried: an engine, and a plane that drives it.
type bench struct {
	*testing.T
	o     Options
	e     engine.Engine
	plane *control.Plane
	state string // the state directory
	work  string // a folder for the files of the case
}

func newBench(t *testing.T, o Options) *bench {
	b := &bench{T: t, o: o, e: o.New(), state: t.TempDir(), work: t.TempDir()}
	b.plane = control.New(control.Config{StateDir: b.state, Store: memory.New(), Engine: b.e, Exe: Binary("muster")})
	return b
}

// path is a file of the case.
func (b *bench) path(name string) string { return filepath.Join(b.work, name) }

func (b *bench) touch(name string) {
	b.Helper()
	if err := os.WriteFile(b.path(name), nil, 0o644); err != nil {
		b.Fatal(err)
	}
}

// lines is how many lines a file of the case has that contain part.
func (b *bench) lines(name, part string) int {
	text, _ := os.ReadFile(b.path(name))
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

type sizes map[string]int

// job is one in which every task runs the same script of the fake trainer.
func (b *bench) job(framework string, roles sizes, steps ...string) job.Spec {
	return b.command(framework, roles, append([]string{Binary("trainer")}, steps...)...)
}

func (b *bench) command(framework string, roles sizes, argv ...string) job.Spec {
	grace := job.Duration(20 * time.Second)
	s := job.Spec{
		Name:      fmt.Sprintf("t%d", os.Getpid()),
		Framework: job.Framework{Name: framework},
		Roles:     map[string]*job.Role{},
		Isolation: b.o.Isolation,
		Stop:      job.Stop{Grace: &grace},
		Restart:   job.Restart{Backoff: job.Duration(time.Millisecond)},
	}
	for name, n := range roles {
		s.Roles[name] = &job.Role{Replicas: n, Command: argv}
		b.o.Containers.role(s.Roles[name])
	}
	return s
}

// latest is who was given a port last, of all the subjects here.
var latest sync.Map

// A subject is a run that is being tried.
type subject struct {
	b   *bench
	id  string
	dir string

	mu    sync.Mutex
	ports map[int]bool // that its tasks were given
}

func (b *bench) subject(id, dir string) *subject {
	s := &subject{b: b, id: id, dir: dir, ports: map[int]bool{}}
	b.Cleanup(func() {
		if b.Failed() {
			s.killLeft()
		}
	})
	return s
}

func (s *subject) note(ports []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range ports {
		if !s.ports[p] {
			s.ports[p] = true
			latest.Store(p, s)
		}
	}
}

func (s *subject) given() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.ports))
}

// submit starts a job.
func (b *bench) submit(spec job.Spec) *subject { return b.submitWith(spec, os.Environ()) }

func (b *bench) submitWith(spec job.Spec, env []string) *subject {
	b.Helper()
	r, err := b.plane.Submit(b.Context(), run.Submission{Spec: spec, Attached: true, Origin: run.Origin{Dir: b.work}, Env: b.o.Containers.environ(env)})
	if err != nil {
		b.Fatal(err)
	}
	return b.subject(r.ID, r.Origin.RunDir)
}

// errEnough ends a watch that has seen what it waited for.
var errEnough = errors.New("enough")

// until waits until the run is as cond wants it.
func (s *subject) until(what string, cond func(run.Run) bool) run.Run {
	s.b.Helper()
	ctx, cancel := context.WithTimeout(s.b.Context(), patience)
	defer cancel()
	var last run.Run
	err := s.b.plane.Watch(ctx, s.id, func(r run.Run) error {
		last = r
		for _, t := range r.Tasks {
			s.note(t.Ports)
			s.note(t.Listen)
		}
		if cond(r) {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		s.b.Fatalf("waited for %s: %v; the run is %s (%s) %s", what, err, last.Phase, last.Reason, show(last.Tasks))
	}
	return last
}

// end waits for the end of the run, after which nothing may be left of it.
func (s *subject) end() run.Run {
	s.b.Helper()
	r := s.until("the end", func(r run.Run) bool { return r.Done() })
	s.nothingLeft(afterEnd)
	return r
}

// try runs a job to its end.
func (b *bench) try(spec job.Spec) run.Run {
	b.Helper()
	return b.submit(spec).end()
}

func (s *subject) update(i run.Intent) {
	s.b.Helper()
	if _, err := s.b.plane.Update(s.b.Context(), s.id, i); err != nil {
		s.b.Fatal(err)
	}
}

// want checks how a run ended.
func (b *bench) want(r run.Run, phase run.Phase, code int, by string) {
	b.Helper()
	switch {
	case r.Verdict == nil:
		b.Fatalf("%s has no verdict", r.Phase)
	case r.Phase != phase || r.Verdict.Phase != phase || r.Verdict.Exit != run.Exit{Code: code, By: by}:
		b.Fatalf("%s, exit %+v (%s); want %s, %d by %s", r.Phase, r.Verdict.Exit, r.Verdict.Headline, phase, code, by)
	}
}

// wantFirst checks who is blamed and in what words.
func (b *bench) wantFirst(r run.Run, task, words string) engine.Instance {
	b.Helper()
	f := r.Verdict.First
	if f == nil || f.Task == nil || f.Instance == nil {
		b.Fatalf("no task is blamed: %s", r.Verdict.Headline)
	}
	if f.Task.String() != task || !strings.Contains(f.What, words) {
		b.Fatalf("%s %s; want %s %s", f.Task, f.What, task, words)
	}
	return *f.Instance
}

// task is the newest instance of a task.
func (b *bench) task(r run.Run, name string) engine.Instance {
	b.Helper()
	for _, i := range r.Tasks {
		if i.Task.String() == name {
			return i
		}
	}
	b.Fatalf("%s is not among the tasks of the run", name)
	return engine.Instance{}
}

// all says whether every task of a run that should have n is as cond wants it.
func all(r run.Run, n int, cond func(engine.Instance) bool) bool {
	return len(r.Tasks) == n && !slices.ContainsFunc(r.Tasks, func(i engine.Instance) bool { return !cond(i) })
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

// logs is the output of the newest instances, by task and stream.
func (s *subject) logs() map[string]string {
	s.b.Helper()
	return s.logsOf(run.LogQuery{Tail: -1})
}

func (s *subject) logsOf(q run.LogQuery) map[string]string {
	s.b.Helper()
	out := map[string]string{}
	err := s.b.plane.Logs(s.b.Context(), s.id, q, func(c run.LogChunk) error {
		out[c.Instance.Task.String()+" "+string(c.Stream)] += string(c.Data)
		return nil
	})
	if err != nil {
		s.b.Fatal(err)
	}
	return out
}

// show is a value in full, for a message.
func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
