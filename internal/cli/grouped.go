package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// groupNamed are the runs of a group, in the order in which they run: by its
// id, or by its name for the newest. There are none if nothing is so called.
func groupNamed(ctx context.Context, svc run.Service, ref string) ([]run.Run, error) {
	page, err := svc.List(ctx, run.Query{Group: ref})
	if err == nil && len(page.Runs) == 0 {
		id, ferr := groupCalled(ctx, svc, ref)
		if ferr != nil || id == "" {
			return nil, ferr
		}
		page, err = svc.List(ctx, run.Query{Group: id})
	}
	slices.Reverse(page.Runs)
	return page.Runs, err
}

// groupCalled is the newest group of a name, "" for none. A group has no record
// of its own: its runs are called as it is, and as their job.
func groupCalled(ctx context.Context, svc run.Service, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	page, err := svc.List(ctx, run.Query{Grouped: true})
	for _, r := range page.Runs {
		if strings.TrimSuffix(r.Spec.Name, "-"+r.Group.Job) == name {
			return r.Group.ID, err
		}
	}
	return "", err
}

// named are the runs that a word means: one run, or all of a group.
func named(ctx context.Context, svc run.Service, ref string) ([]run.Run, error) {
	r, err := svc.Get(ctx, ref)
	if problem.KindOf(err) != problem.NotFound {
		return []run.Run{r}, err
	}
	if runs, gerr := groupNamed(ctx, svc, ref); gerr != nil || len(runs) > 0 {
		return runs, gerr
	}
	return nil, err
}

// findAll is find for a command that takes a group, too.
func (a *app) findAll(ctx context.Context, args []string) (run.Service, []run.Run, error) {
	svc, r, err := a.find(ctx, args)
	if err == nil || svc == nil || len(args) == 0 {
		return svc, []run.Run{r}, err
	}
	runs, err := named(ctx, svc, args[0])
	return svc, runs, err
}

// isGroup says that the runs which args name are a group's, if of one job only.
func isGroup(runs []run.Run, args []string) bool {
	return len(runs) > 1 || len(args) > 0 && runs[0].Group != nil && runs[0].ID != args[0] && runs[0].Spec.Name != args[0]
}

// notGroup says of a name that nothing has whether it is a group's, for a
// command that takes one run.
func notGroup(ctx context.Context, svc run.Service, ref string, err error) error {
	if problem.KindOf(err) != problem.NotFound {
		return err
	}
	runs, gerr := groupNamed(ctx, svc, ref)
	if gerr != nil || len(runs) == 0 {
		return err
	}
	return problem.New(problem.NotFound, "%s is a group of %s; name one of its runs", ref, counted(len(runs), "job")).
		WithHint("muster ps --group %s lists them", runs[0].Group.ID)
}

// waitGroup waits for all runs of a group and exits as the first that failed.
func waitGroup(ctx context.Context, a *app, svc run.Service, runs []run.Run) error {
	for i := range runs {
		if err := svc.Watch(ctx, runs[i].ID, func(now run.Run) error { runs[i] = now; return nil }); err != nil {
			return err
		}
	}
	phase, why, exit := run.Fold(runs)
	fmt.Fprintf(a.stderr, "muster: group %s %s: %s\n", runs[0].Group.ID, phase, clean(why))
	if exit.Code == 0 {
		return nil
	}
	return exitStatus(exit.Code)
}
