//go:build linux

package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// checkpointFaults says why a job's checkpoints cannot be where it wants them.
func checkpointFaults(s *job.Spec, stateDir string) problem.List {
	refuse := func(hint, format string, args ...any) problem.List {
		e := problem.New(problem.Refused, format, args...)
		e.Field, e.Hint = "checkpoint", hint
		return problem.List{e}
	}
	dir := s.Checkpoint
	if dir == "" {
		return nil
	}
	if !filepath.IsAbs(dir) {
		return refuse("--mount NAME=DIR", "%q is in a volume that is not bound to a folder of this machine", dir)
	}
	if in, err := filepath.Rel(stateDir, dir); err == nil && filepath.IsLocal(in) {
		return refuse("a folder of your own, or none: each run has one", "%s is in the state directory, where muster rm deletes", dir)
	}
	switch st, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return refuse("", "%v", err)
	case !st.IsDir():
		return refuse("", "%s is no folder", dir)
	case unix.Access(dir, unix.W_OK|unix.X_OK) != nil:
		return refuse("chmod u+wx "+dir, "%s cannot be written by you", dir)
	}
	return nil
}

// makeCheckpoint makes the folder that a job names, if it is not there.
func makeCheckpoint(s *job.Spec) error {
	if s.Checkpoint == "" {
		return nil
	}
	if err := os.MkdirAll(s.Checkpoint, 0o700); err != nil {
		return &problem.Error{Kind: problem.Refused, Field: "checkpoint", Text: err.Error()}
	}
	return nil
}

// noteShared tells of runs under way that have the same folder for their
// checkpoints: each may overwrite what the other needs.
func (p *Plane) noteShared(ctx context.Context, r *run.Run) error {
	if r.Spec.Checkpoint == "" {
		return nil
	}
	page, err := p.config.Store.List(ctx, run.Query{Active: true})
	if err != nil {
		return err
	}
	for _, other := range page.Runs {
		if other.ID != r.ID && sameFolder(other.Spec.Checkpoint, r.Spec.Checkpoint) {
			r.Notes = append(r.Notes, fmt.Sprintf("%s has its checkpoints in the same folder, %s", other.ID, r.Spec.Checkpoint))
		}
	}
	return nil
}

func sameFolder(a, b string) bool {
	if a == "" || a == b {
		return a != ""
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// inherit gives a run the checkpoints of one that has ended. In a folder that
// both have they are already; into one of the user's that has something in it
// nothing is copied.
func (p *Plane) inherit(ctx context.Context, r *run.Run, from string) error {
	if from == "" {
		return nil
	}
	old, err := p.config.Store.Get(ctx, from)
	if err != nil {
		return err
	}
	if !old.Done() {
		return problem.New(problem.Conflict, "%s has not ended: %s", old.ID, old.Phase).WithHint("muster stop %s", old.ID)
	}
	theirs, ours := launch.Checkpoints(&old.Spec, p.runDir(old.ID)), launch.Checkpoints(&r.Spec, p.runDir(r.ID))
	if sameFolder(theirs, ours) {
		return nil
	}
	if had, err := os.ReadDir(ours); err == nil && len(had) > 0 {
		return &problem.Error{
			Kind: problem.Refused, Field: "checkpoint", Text: fmt.Sprintf("%s is not empty, and the checkpoints of %s would be copied into it", ours, old.ID),
			Hint: "an empty folder, or without --resume",
		}
	}
	err = copyTree(theirs, ours)
	if errors.Is(err, fs.ErrNotExist) {
		return problem.New(problem.Refused, "%s has no checkpoints any more", old.ID)
	}
	return err
}
