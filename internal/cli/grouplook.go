package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/report"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// explainGroup makes the report of a group, with that of the job that decided,
// or else of one that goes on and gives cause for worry.
func explainGroup(ctx context.Context, svc run.Service, runs []run.Run) report.Group {
	g := report.OfGroup(runs)
	if r, ok := report.Deciding(runs); ok {
		rep := explain(ctx, svc, r)
		g.Job = &rep
		return g
	}
	for _, r := range runs {
		if r.Done() {
			continue
		}
		if rep := explain(ctx, svc, r); rep.Tone == report.Watch {
			g.Job = &rep
			return g
		}
	}
	return g
}

func (a *app) drawGroup(g report.Group) {
	top := report.Report{Tone: g.Tone, Headline: g.Headline, Facts: g.Facts, Next: g.Next}
	if g.Job != nil {
		top.Next = nil // the job's are nearer
	}
	a.drawReport(a.stdout, top)
	if g.Job != nil {
		fmt.Fprintln(a.stdout)
		a.drawReport(a.stdout, *g.Job)
	}
}

// drawJobs is a group and its jobs, in the order in which they run.
func (a *app) drawJobs(runs []run.Run, wide bool) string {
	st := ui.Detect(a.stdout, a.env)
	table := a.psTable(runs, wide)
	if !wide {
		table = st.Table(st.Narrow(jobRows(runs, time.Now()), "TASKS", "TOOK", "NEEDS"))
	}
	return strings.Join(fitted(st, clean(report.OfGroup(runs).Headline)), "\n") + "\n\n" + table
}

func jobRows(runs []run.Run, now time.Time) [][]string {
	rows := [][]string{{"JOB", "RUN", "NEEDS", "STATUS", "TASKS", "TOOK", "REASON"}}
	for _, r := range runs {
		tasks := fmt.Sprintf("%d/%d", running(r.Tasks), len(r.Spec.Tasks()))
		rows = append(rows, []string{r.Group.Job, r.ID, dash(needsOf(r)), status(r), tasks, tookSoFar(r, now), reason(r)})
	}
	return rows
}

// needsOf are the jobs that a job needs, or needed.
func needsOf(r run.Run) string {
	var names []string
	for _, n := range r.Group.Needs {
		name := n.Job
		if n.Whatever {
			name += " (done)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// groupTasks are the tasks of all jobs of a group, as their output is marked.
func groupTasks(runs []run.Run) (names []string) {
	for _, r := range runs {
		for _, t := range r.Spec.Tasks() {
			names = append(names, r.Group.Job+"/"+t.String())
		}
	}
	return names
}

// showGroupLogs shows the output of one job after the other, or as it comes.
func showGroupLogs(ctx context.Context, a *app, svc run.Service, runs []run.Run, o logsOptions) error {
	runs, err := withOutput(runs, o.q)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	screen := ui.Open(a.stdout, a.stderr, a.env, 0)
	go cancelWhenGone(ctx, cancel, screen)
	names := groupTasks(runs)
	errs := make([]error, len(runs))
	var wg sync.WaitGroup
	for n, r := range runs {
		out := newNamedOutput(screen, names)
		out.job, out.stamps = r.Group.Job+"/", o.timestamps
		take := out.take
		if o.q.Raw {
			take = a.takeRaw
		}
		wg.Go(func() {
			errs[n] = svc.Logs(ctx, r.ID, o.q, take)
			out.flush()
		})
		if !o.q.Follow {
			wg.Wait()
		}
	}
	wg.Wait()
	return errors.Join(append(errs, screen.Close())...)
}

// withOutput are the runs of a group that have what is asked for.
func withOutput(runs []run.Run, q run.LogQuery) ([]run.Run, error) {
	id := runs[0].Group.ID
	for _, pattern := range q.Tasks {
		if _, err := path.Match(pattern, ""); err != nil {
			return runs, nil // each of them refuses it
		}
	}
	have := slices.DeleteFunc(slices.Clone(runs), func(r run.Run) bool { return !hasTasks(r, q.Tasks) })
	if len(have) == 0 {
		return nil, problem.New(problem.NotFound, "no job of %s has a task %s", id, strings.Join(q.Tasks, " or ")).WithHint("muster get %s lists its jobs", id)
	}
	have = slices.DeleteFunc(have, func(r run.Run) bool { return q.Attempt > r.Attempt })
	if len(have) == 0 {
		return nil, problem.New(problem.NotFound, "no job of %s has had %s", id, counted(q.Attempt, "attempt"))
	}
	return have, nil
}

// hasTasks says that a run has tasks that one of the patterns names. All must
// name some: a run refuses a pattern that does not.
func hasTasks(r run.Run, patterns []string) bool {
	tasks := r.Spec.Tasks()
	return !slices.ContainsFunc(patterns, func(p string) bool {
		return !slices.ContainsFunc(tasks, func(t job.Task) bool { return namesTask(p, t) })
	})
}
