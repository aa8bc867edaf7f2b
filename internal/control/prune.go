//go:build linux

package control

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

var _ run.Pruner = (*Plane)(nil)

// expiresDir has an empty file for each run with a ttl, so that looking for
// those that are over costs nothing where there are none.
const expiresDir = "expires"

// unclaimed is how long nothing may have changed in a folder without a record
// before it counts as left behind: a submission makes its folder first.
const unclaimed = time.Hour

// Prune implements run.Pruner.
func (p *Plane) Prune(ctx context.Context, want run.Pruning) (run.Pruned, error) {
	done := run.Pruned{Runs: []string{}}
	if err := p.pruneExpired(ctx, want.Dry, &done); err != nil || !want.Ended {
		return done, err
	}
	page, err := p.config.Store.List(ctx, run.Query{})
	if err != nil {
		return done, err
	}
	now, ended := time.Now(), 0
	for i := range page.Runs {
		r := &page.Runs[i]
		if !r.Done() {
			continue
		}
		if ended++; ended > want.Keep && now.Sub(r.Ended) >= want.OlderThan {
			if err := p.pruneRun(ctx, r, want.Dry, &done); err != nil {
				return done, err
			}
		}
	}
	return done, p.pruneRest(ctx, want.Dry, &done)
}

// pruneExpired deletes the runs whose ttl is over.
func (p *Plane) pruneExpired(ctx context.Context, dry bool, done *run.Pruned) error {
	marks, err := os.ReadDir(filepath.Join(p.config.StateDir, expiresDir))
	if err != nil {
		return nil // no run has ever had one
	}
	for _, m := range marks {
		r, err := p.config.Store.Get(ctx, m.Name())
		switch {
		case problem.KindOf(err) == problem.NotFound:
			// Removed by hand, unless its submission is still under way.
			if st, err := m.Info(); err == nil && time.Since(st.ModTime()) > unclaimed && !dry {
				_ = os.Remove(p.expires(m.Name()))
			}
		case err != nil:
			return err
		case r.ID == m.Name() && r.Done() && time.Since(r.Ended) >= r.Spec.Cleanup.TTL.D():
			if err := p.pruneRun(ctx, &r, dry, done); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Plane) expires(id string) string { return filepath.Join(p.config.StateDir, expiresDir, id) }

// markExpiry notes that a run is to be deleted some time after its end.
func (p *Plane) markExpiry(r *run.Run) error {
	if r.Spec.Cleanup.TTL == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(p.config.StateDir, expiresDir), 0o700); err != nil {
		return err
	}
	return os.WriteFile(p.expires(r.ID), nil, 0o600)
}

// pruneRun deletes a run that has ended. One that somebody else is deleting, or
// whose owner is still busy, is left alone.
func (p *Plane) pruneRun(ctx context.Context, r *run.Run, dry bool, done *run.Pruned) error {
	size, _ := weigh(p.runDir(r.ID))
	if !dry {
		_, err := p.remove(ctx, r.ID)
		switch problem.KindOf(err) {
		case problem.NotFound, problem.Conflict:
			return nil
		}
		if err != nil {
			return err
		}
		_ = os.Remove(p.expires(r.ID))
	}
	done.Runs = append(done.Runs, r.ID)
	done.Bytes += size
	return nil
}

// pruneRest deletes folders of runs and groups that have no record, which a
// submission that was killed has left, and the code that no run has any more.
func (p *Plane) pruneRest(ctx context.Context, dry bool, done *run.Pruned) error {
	page, err := p.config.Store.List(ctx, run.Query{})
	if err != nil {
		return err
	}
	used := map[string]bool{} // ids of runs, groups and snapshots are never alike
	for _, r := range page.Runs {
		used[r.ID], used[r.Origin.Code] = true, true
		if r.Group != nil {
			used[r.Group.ID] = true
		}
	}
	for _, dir := range []string{filepath.Dir(p.runDir("x")), filepath.Dir(p.groupDir("x"))} {
		list, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, d := range list {
			if used[d.Name()] {
				continue
			}
			if err := pruneFolder(filepath.Join(dir, d.Name()), dry, done); err != nil {
				return err
			}
		}
	}
	if dry {
		return nil
	}
	return p.code.Prune(func(id string) bool { return used[id] })
}

// pruneFolder deletes a folder that nobody works in.
func pruneFolder(dir string, dry bool, done *run.Pruned) error {
	size, changed := weigh(dir)
	if time.Since(changed) < unclaimed || owned(dir) {
		return nil
	}
	if !dry {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	done.Folders = append(done.Folders, dir)
	done.Bytes += size
	return nil
}

// weigh returns how large a folder is, and when anything in it last changed.
func weigh(dir string) (size int64, changed time.Time) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // going away meanwhile
		}
		st, err := d.Info()
		if err != nil {
			return nil
		}
		if d.Type().IsRegular() {
			size += st.Size()
		}
		if st.ModTime().After(changed) {
			changed = st.ModTime()
		}
		return nil
	})
	return size, changed
}

// reuse gives a run the code of another one, which is frozen already.
func (p *Plane) reuse(ctx context.Context, r *run.Run) error {
	if !p.code.Has(r.Origin.Code) {
		return problem.New(problem.Refused, "the code %s is not kept any more", r.CodeName()).WithHint("--code DIR freezes a folder anew, --code git+URL@REF a commit")
	}
	return p.code.Extract(ctx, r.Origin.Code, filepath.Join(p.runDir(r.ID), launch.CodeDir))
}
