//go:build linux

package control

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

var _ run.Groups = (*Plane)(nil)

// groupDir is the folder that the jobs of a group share.
func (p *Plane) groupDir(id string) string { return filepath.Join(p.config.StateDir, "groups", id) }

// SubmitGroup implements run.Groups.
func (p *Plane) SubmitGroup(ctx context.Context, g run.GroupSubmission) ([]run.Run, error) {
	order, err := g.Group.Order()
	if err != nil {
		return nil, problem.New(problem.Invalid, "%v", err)
	}
	id, err := claimID(g.Group.Name, p.groupDir)
	if err != nil {
		return nil, stateProblem(err, p.config.StateDir)
	}
	runs, err := p.prepareGroup(ctx, g, id, order)
	if err == nil {
		err = p.config.Store.Create(ctx, runs...)
	}
	if err != nil {
		for _, r := range runs {
			_ = os.RemoveAll(p.runDir(r.ID))
		}
		_ = os.RemoveAll(p.groupDir(id))
		return nil, err
	}
	err = p.round(ctx)
	for _, r := range runs {
		if err == nil && !waits(&r) {
			err = p.startOwner(r.ID) // it has a limit on its waiting, or is to be suspended
		}
	}
	return runs, err
}

// prepareGroup makes the runs of a group, each after those it needs.
func (p *Plane) prepareGroup(ctx context.Context, g run.GroupSubmission, id string, order []string) ([]run.Run, error) {
	var runs []run.Run
	ids, commits := map[string]string{}, map[fetched]run.Origin{}
	for _, name := range order {
		s := g.Jobs[name]
		s.Attached = false
		s.Spec.Name = g.Group.Name + "-" + name
		if err := p.accept(&s); err != nil {
			return runs, inJob(err, name)
		}
		key := fetchedBy(&s)
		if had, ok := commits[key]; ok { // a branch may go on meanwhile: a group has one commit of it
			s.Origin.Code, s.Origin.CodeSize, s.Origin.Commit = had.Code, had.CodeSize, had.Commit
		}
		r, err := p.prepare(ctx, s)
		if err != nil {
			return runs, inJob(err, name)
		}
		if key.Git != "" {
			commits[key] = r.Origin
		}
		// A moment apart, so that they are listed in the order in which they run.
		r.Created = r.Created.Add(time.Duration(len(runs)) * time.Microsecond)
		r.Grant = nil // its turn is decided together with the others'
		r.Group = &run.Group{ID: id, Job: name, MaxParallel: g.Group.MaxParallel, StopOnFailure: g.Group.StopOnFailure}
		for _, n := range order {
			if how, ok := g.Group.Needs[name][n]; ok {
				r.Needs = append(r.Needs, run.Need{Run: ids[n], Job: n, Whatever: how == "done"})
			}
		}
		r.Group.Needs = slices.Clone(r.Needs)
		ids[name] = r.ID
		runs = append(runs, r)
	}
	return runs, nil
}

// inJob says which job of a group a problem is in.
func inJob(err error, name string) error {
	var list problem.List
	if !errors.As(err, &list) {
		return problem.Wrap(problem.KindOf(err), err, "jobs.%s", name)
	}
	out := make(problem.List, len(list))
	for i, e := range list {
		c := *e
		c.Field = "jobs." + name + "." + c.Field
		out[i] = &c
	}
	return out
}

// settleNeeds takes into account which runs have ended since the last time:
// those that needed them may go on, or never can.
// It returns the runs of each group that had not ended by then.
func (p *Plane) settleNeeds(ctx context.Context) (map[string][]string, error) {
	for {
		page, err := p.config.Store.List(ctx, run.Query{Active: true, Grouped: true})
		if err != nil {
			return nil, err
		}
		groups := map[string][]string{}
		for _, r := range page.Runs {
			if r.Group != nil {
				groups[r.Group.ID] = append(groups[r.Group.ID], r.ID)
			}
		}
		skipped := false
		for _, r := range page.Runs {
			if r.Phase != run.Pending || r.Group == nil || r.Grant != nil {
				continue
			}
			why, met, err := p.outcome(ctx, &r)
			if err != nil {
				return nil, err
			}
			if why != "" {
				ended, err := p.skip(ctx, r.ID, why)
				if err != nil {
					return nil, err
				}
				skipped = skipped || ended
			} else if len(met) > 0 {
				if err := p.meetNeeds(ctx, r.ID, met); err != nil {
					return nil, err
				}
			}
		}
		if !skipped {
			return groups, nil // else others may need what was skipped
		}
	}
}

// outcome says which needs of a run have been met, or why it can never start.
func (p *Plane) outcome(ctx context.Context, r *run.Run) (why string, met []string, err error) {
	for _, n := range r.Needs {
		dep, err := p.config.Store.Get(ctx, n.Run)
		switch {
		case problem.KindOf(err) == problem.NotFound:
			return "needs " + n.Job + ", which was removed", nil, nil
		case err != nil:
			return "", nil, err
		case !dep.Done():
			if dep.Grant != nil {
				p.rescue(&dep) // nobody else may be looking at it
			}
		case dep.Phase == run.Succeeded || n.Whatever:
			met = append(met, n.Run)
		default:
			return "needs " + n.Job + ", which " + howEnded(&dep), nil, nil
		}
	}
	if r.Group.StopOnFailure {
		if failed, err := p.failedIn(ctx, r.Group.ID); failed != "" || err != nil {
			return failed + " failed and the group stops on failure", nil, err
		}
	}
	return "", met, nil
}

func howEnded(r *run.Run) string {
	switch {
	case r.Skipped():
		return "was skipped"
	case r.Phase == run.Failed:
		return "failed"
	}
	return "was stopped"
}

// failedIn names the job of a group that has failed, if one has.
func (p *Plane) failedIn(ctx context.Context, group string) (string, error) {
	page, err := p.config.Store.List(ctx, run.Query{Group: group})
	for _, r := range page.Runs {
		if r.Phase == run.Failed {
			return r.Group.Job, nil
		}
	}
	return "", err
}

func (p *Plane) meetNeeds(ctx context.Context, id string, met []string) error {
	_, err := p.config.Store.Update(ctx, id, func(r *run.Run) error {
		r.Needs = slices.DeleteFunc(r.Needs, func(n run.Need) bool { return slices.Contains(met, n.Run) })
		return nil
	})
	return err
}

// skip ends a run that never started, and says whether it has ended. One that
// has an owner, as its waiting has a limit, is ended by that.
func (p *Plane) skip(ctx context.Context, id, why string) (bool, error) {
	l, err := takeLock(p.runDir(id), false)
	if problem.KindOf(err) == problem.Conflict {
		_, err = p.Update(ctx, id, run.Intent{Want: run.WantStop, Signal: "TERM", By: "its group: it " + why})
		if problem.KindOf(err) == problem.Conflict {
			err = nil // it is being ended already
		}
		return false, err
	}
	if err != nil {
		return false, err
	}
	defer l.release()
	_, err = p.config.Store.Update(ctx, id, func(r *run.Run) error {
		if r.Done() || r.Grant != nil {
			return problem.New(problem.Conflict, "%s has had its turn", id)
		}
		r.Fence++
		r.Phase, r.Reason, r.Ended = run.Stopped, why, time.Now().Round(0)
		r.Verdict = &run.Verdict{Phase: run.Stopped, Headline: "skipped: " + why, Skipped: true, Exit: run.Exit{Code: run.ExitRefused, By: "muster"}}
		return nil
	})
	if problem.KindOf(err) == problem.Conflict {
		return false, nil
	}
	if err == nil {
		p.leaveOnlyRecord(id)
	}
	return err == nil, err
}

// dropGroup removes what a group shared, with the last of its runs.
func (p *Plane) dropGroup(ctx context.Context, r *run.Run) error {
	if r.Group == nil {
		return nil
	}
	page, err := p.config.Store.List(ctx, run.Query{Group: r.Group.ID, Limit: 1})
	if err != nil || len(page.Runs) > 0 {
		return err
	}
	return os.RemoveAll(p.groupDir(r.Group.ID))
}

// stopOthers stops what still runs in a group that stops on failure.
func (p *Plane) stopOthers(ctx context.Context, r *run.Run) error {
	if r.Group == nil || !r.Group.StopOnFailure || r.Phase != run.Failed {
		return nil
	}
	page, err := p.config.Store.List(ctx, run.Query{Group: r.Group.ID, Active: true})
	for _, other := range page.Runs {
		if other.Grant == nil {
			continue
		}
		_, uerr := p.Update(ctx, other.ID, run.Intent{Want: run.WantStop, Signal: "TERM", By: "the failure of " + r.Group.Job})
		if uerr != nil && problem.KindOf(uerr) != problem.Conflict {
			err = errors.Join(err, uerr)
		}
	}
	return err
}
