//go:build linux

package control

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// followInterval is how often outputs are looked at for something new: less
// often where there are many, as each look costs a call for every one.
func followInterval(streams int) time.Duration {
	return max(20*time.Millisecond, time.Duration(streams)*time.Millisecond/4)
}

// Logs implements run.Service. What has been written is given in the order of
// its time as far as that is known; what comes then, as it comes.
func (p *Plane) Logs(ctx context.Context, id string, q run.LogQuery, got func(run.LogChunk) error) error {
	reader, ok := p.config.Engine.(engine.LogReader)
	if !ok {
		return problem.New(problem.Refused, "%s keeps no output", p.config.Engine.Capabilities().Name)
	}
	r, err := p.config.Store.Get(ctx, id)
	if err != nil {
		return err
	}
	f := &follower{p: p, r: r, run: p.engineRun(&r), reader: reader, q: q, got: got, known: map[job.Instance]bool{}}
	if err := f.checkTasks(); err != nil {
		return err
	}
	if !q.Follow {
		return f.drain(ctx)
	}
	return f.follow(ctx)
}

// A follower gives the output of one run.
type follower struct {
	p       *Plane
	r       run.Run
	run     engine.Run
	reader  engine.LogReader
	q       run.LogQuery
	got     func(run.LogChunk) error
	known   map[job.Instance]bool
	streams []*stream
	news    atomic.Bool // the run has changed: there may be new instances
}

// checkTasks refuses patterns that name no task of the job.
func (f *follower) checkTasks() error {
	for _, pattern := range f.q.Tasks {
		if _, err := path.Match(pattern, ""); err != nil {
			return problem.New(problem.Invalid, "%q is not a pattern for tasks", pattern).WithHint("--task worker-0 or --task 'worker-*'")
		}
		if !slices.ContainsFunc(f.r.Spec.Tasks(), func(t job.Task) bool { return matches(pattern, t) }) {
			names := make([]string, 0, 8)
			for _, t := range f.r.Spec.Tasks() {
				names = append(names, t.String())
			}
			e := problem.New(problem.NotFound, "%s has no task %q", f.r.ID, pattern)
			if near := problem.Nearest(pattern, names); near != "" {
				return e.WithHint("did you mean %s?", near)
			}
			return e.WithHint("its tasks: %s", strings.Join(names[:min(8, len(names))], ", "))
		}
	}
	return nil
}

// matches says whether a pattern names a task: its name, its role, or a glob.
func matches(pattern string, t job.Task) bool {
	ok, _ := path.Match(pattern, t.String())
	return ok || pattern == t.Role
}

// wanted says whether an instance is asked for. Without an attempt that is the
// newest one, which while following changes.
func (f *follower) wanted(i job.Instance, newest int) bool {
	if f.q.Attempt > 0 && i.Attempt != f.q.Attempt || f.q.Attempt == 0 && !f.q.Follow && i.Attempt != newest {
		return false
	}
	return len(f.q.Tasks) == 0 || slices.ContainsFunc(f.q.Tasks, func(p string) bool { return matches(p, i.Task) })
}

// discover finds instances that have come since the last look.
func (f *follower) discover(first bool) error {
	all, err := f.reader.Instances(f.run)
	if err != nil {
		return err
	}
	newest := 0
	for _, i := range all {
		newest = max(newest, i.Attempt)
	}
	for _, i := range all {
		if f.known[i] || !f.wanted(i, newest) {
			continue
		}
		f.known[i] = true
		if first && f.q.Attempt == 0 && i.Attempt != newest {
			continue // of an attempt that was over before we came
		}
		for _, s := range []engine.Stream{engine.Stdout, engine.Stderr} {
			st := &stream{f: f, instance: i, name: s}
			if err := st.begin(first); err != nil {
				return err
			}
			f.streams = append(f.streams, st)
		}
	}
	return nil
}

// drain gives what has been written up to now, oldest first.
func (f *follower) drain(ctx context.Context) error {
	if err := f.discover(true); err != nil {
		return err
	}
	for {
		var oldest *stream
		for _, s := range f.streams {
			if err := s.load(ctx); err != nil {
				return err
			}
			if s.next != nil && (oldest == nil || s.next.Time.Before(oldest.next.Time)) {
				oldest = s
			}
		}
		if oldest == nil {
			return nil
		}
		if err := f.got(*oldest.next); err != nil {
			return err
		}
		oldest.next = nil
	}
}

// follow goes on until the run is done and everything has been given.
func (f *follower) follow(ctx context.Context) error {
	if err := f.drain(ctx); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		done <- f.p.Watch(ctx, f.r.ID, func(r run.Run) error { f.news.Store(true); return nil })
	}()
	ticks := time.NewTicker(followInterval(2 * len(f.r.Spec.Tasks())))
	defer ticks.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			return f.giveNew(ctx, true)
		case <-ticks.C:
			if err := f.giveNew(ctx, false); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// giveNew gives what has come since the last look; at the end also what does
// not end with a line end.
func (f *follower) giveNew(ctx context.Context, last bool) error {
	if f.news.Swap(false) || last {
		if err := f.discover(false); err != nil {
			return err
		}
	}
	for _, s := range f.streams {
		if err := s.giveNew(ctx, last); err != nil {
			return err
		}
	}
	return nil
}
