//go:build linux

package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"muster.dev/muster/internal/git"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/snapshot"
)

// checkoutDir is where a commit's files are until they are frozen.
const checkoutDir = "checkout"

// freeze takes the snapshot of the code that every attempt of the run uses.
func (p *Plane) freeze(ctx context.Context, r *run.Run, s run.Submission) error {
	c := r.Spec.Code
	if c == nil {
		return nil
	}
	if r.Origin.Code != "" {
		return p.reuse(ctx, r)
	}
	take := p.takeFolder
	if c.Git != "" {
		take = func(ctx context.Context, r *run.Run) (snapshot.Snapshot, error) { return p.takeCommit(ctx, r, s) }
	}
	snap, err := take(ctx, r)
	if err != nil {
		return err
	}
	r.Origin.Code, r.Origin.CodeSize = snap.ID, snap.Size
	if large := snap.LargeWords(); large != "" {
		r.Notes = append(r.Notes, "the frozen code has large files: "+large+"; lines in .musterignore keep files out")
	}
	return p.code.Extract(ctx, snap.ID, filepath.Join(p.runDir(r.ID), launch.CodeDir))
}

func (p *Plane) takeFolder(ctx context.Context, r *run.Run) (snapshot.Snapshot, error) {
	root := r.Spec.Code.Path
	if !filepath.IsAbs(root) {
		root = filepath.Join(r.Origin.Dir, root)
	}
	skip := []string{p.config.StateDir}
	for _, secret := range r.Spec.Secrets {
		if secret.File != "" { // frozen it would outlive the run
			skip = append(skip, secret.File)
		}
	}
	snap, err := p.code.Take(ctx, root, snapshot.Options{Skip: skip})
	var se *snapshot.Error
	if errors.As(err, &se) {
		return snap, &problem.Error{Kind: problem.Invalid, Field: "code", Text: se.Error(), Hint: se.Hint}
	}
	return snap, err
}

// takeCommit fetches what the job names and freezes it. Only the frozen bytes
// stay: the repository may have others tomorrow.
func (p *Plane) takeCommit(ctx context.Context, r *run.Run, s run.Submission) (snapshot.Snapshot, error) {
	from, err := git.Parse(withLogin(s))
	if err != nil {
		return snapshot.Snapshot{}, err
	}
	dir := filepath.Join(p.runDir(r.ID), checkoutDir)
	defer os.RemoveAll(dir)
	got, err := git.Fetch(ctx, from, r.Spec.Code.Ref, dir, s.Env)
	if err != nil {
		return snapshot.Snapshot{}, err
	}
	r.Origin.Commit = got.Commit
	for _, path := range got.Submodules {
		r.Notes = append(r.Notes, fmt.Sprintf("the folder %s of the code is empty: it is a submodule, which is not fetched", path))
	}
	root, err := folderOf(dir, r.Spec.Code)
	if err != nil {
		return snapshot.Snapshot{}, err
	}
	snap, err := p.code.Take(ctx, root, snapshot.Options{Committed: true})
	var se *snapshot.Error
	if errors.As(err, &se) { // its words are about a folder that nobody knows
		words := strings.NewReplacer(root+"/", "", root, from.URL)
		return snap, &problem.Error{
			Kind: problem.Invalid, Field: "code",
			Text: fmt.Sprintf("%s@%s: %s", from.URL, git.Short(got.Commit), words.Replace(se.Error())), Hint: words.Replace(se.Hint),
		}
	}
	return snap, err
}

// folderOf is the folder of a checkout that the job wants. A link there must not
// lead out of it.
func folderOf(dir string, c *job.Code) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(filepath.Join(dir, c.Path))
	if err == nil {
		if in, rerr := filepath.Rel(dir, root); rerr != nil || !filepath.IsLocal(in) || in == ".git" || strings.HasPrefix(in, ".git/") {
			err = errors.New("it leads elsewhere")
		}
	}
	if err != nil {
		return "", &problem.Error{Kind: problem.Invalid, Field: "code.path", Text: fmt.Sprintf("%s has no folder %s there", c.Git, c.Path), Hint: "git ls-tree -r shows what a commit has"}
	}
	return root, nil
}

// hideLogin moves who one is from the job, which is stored and shown, to beside it.
func hideLogin(s *run.Submission) error {
	c := s.Spec.Code
	if c == nil || c.Git == "" {
		return nil
	}
	from, err := git.Parse(c.Git)
	if err != nil {
		return err
	}
	if err := git.CheckRef(c.Ref); err != nil {
		return err
	}
	if from.URL != c.Git {
		s.CodeURL = c.Git
		shown := *c
		shown.Git = from.URL
		s.Spec.Code = &shown
	}
	return nil
}

func withLogin(s run.Submission) string {
	if s.CodeURL != "" {
		return s.CodeURL
	}
	return s.Spec.Code.Git
}

// A fetched is what is fetched for a job, and as whom.
type fetched struct {
	job.Code
	url string
}

// fetchedBy is what a job takes from a repository; the zero value for nothing.
func fetchedBy(s *run.Submission) fetched {
	if s.Spec.Code == nil || s.Spec.Code.Git == "" {
		return fetched{}
	}
	return fetched{*s.Spec.Code, s.CodeURL}
}
