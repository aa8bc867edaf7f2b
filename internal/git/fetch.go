//go:build linux

package git

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster.dev/muster/internal/problem"
)

const (
	lookTime  = time.Minute      // to be told what there is
	fetchTime = 10 * time.Minute // to get it
)

// A Checkout is a commit's files in a folder.
type Checkout struct {
	Commit     string
	Submodules []string // folders that are empty, as they are other repositories
}

var (
	fullCommit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	someCommit = regexp.MustCompile(`^[0-9a-f]{4,64}$`)
)

// Fetch puts the files of one branch, tag or commit into dir, which it makes;
// "" is what the repository itself puts first. It asks nobody anything and
// never takes longer than its limits. Submodules are left out.
func Fetch(ctx context.Context, r Remote, ref, dir string, env []string) (Checkout, error) {
	repo, err := open(r, dir, env)
	if err != nil {
		return Checkout{}, err
	}
	if err := CheckRef(ref); err != nil {
		return Checkout{}, err
	}
	if err := repo.makeDir(); err != nil {
		return Checkout{}, err
	}
	c, err := repo.fetch(ctx, ref)
	var missing *missingRef
	if errors.As(err, &missing) {
		return c, missing.problem(r)
	}
	return c, r.explain(err)
}

func (r *repository) fetch(ctx context.Context, ref string) (c Checkout, err error) {
	if _, err := r.ask(ctx, lookTime, "init", "--quiet", "--template="); err != nil {
		return c, err
	}
	listed, err := r.ask(ctx, lookTime, "ls-remote", "--quiet", remote)
	if err != nil {
		return c, err
	}
	if c.Commit, err = r.get(ctx, ref, refsOf(listed)); err != nil {
		return c, err
	}
	if _, err := r.ask(ctx, fetchTime, "checkout", "--quiet", "--force", "--detach", c.Commit); err != nil {
		return c, err
	}
	c.Submodules, err = r.submodules(ctx, c.Commit)
	return c, err
}

// get fetches what ref means, alone where that can be, and returns its commit.
func (r *repository) get(ctx context.Context, ref string, there map[string]string) (string, error) {
	name, err := choose(ref, there)
	if err != nil {
		return "", err
	}
	if name == "" && fullCommit.MatchString(ref) {
		name = ref
	}
	if name != "" {
		_, err := r.ask(ctx, fetchTime, "fetch", "--quiet", "--no-tags", "--depth=1", remote, name)
		if err == nil {
			return r.commit(ctx, "FETCH_HEAD")
		}
		if name != ref || !fullCommit.MatchString(ref) || ctx.Err() != nil {
			return "", err
		}
	}
	// Not every server hands out a commit by its number, and none by a part of
	// it: it is looked for in all branches and tags.
	_, err = r.ask(ctx, fetchTime, "fetch", "--quiet", "--no-tags", remote, "+refs/heads/*:refs/muster/heads/*", "+refs/tags/*:refs/muster/tags/*")
	if err != nil {
		return "", err
	}
	commit, err := r.commit(ctx, ref)
	var f *failure
	if errors.As(err, &f) && !f.late {
		return "", &missingRef{ref: ref, there: there, ambiguous: strings.Contains(f.words, "ambiguous")}
	}
	return commit, err
}

func (r *repository) commit(ctx context.Context, name string) (string, error) {
	out, err := r.ask(ctx, lookTime, "rev-parse", "--verify", "--end-of-options", name+"^{commit}")
	return strings.TrimSpace(out), err
}

// submodules are the folders of a commit that are repositories of their own.
func (r *repository) submodules(ctx context.Context, commit string) (all []string, err error) {
	out, err := r.ask(ctx, lookTime, "ls-tree", "-r", "-z", "--full-tree", commit)
	for line := range strings.SplitSeq(out, "\x00") {
		if about, path, ok := strings.Cut(line, "\t"); ok && strings.HasPrefix(about, "160000 ") {
			all = append(all, path)
		}
	}
	return all, err
}

// refsOf reads what a repository has: names, and what they stand for.
func refsOf(listed string) map[string]string {
	refs := map[string]string{}
	for line := range strings.Lines(listed) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !strings.HasSuffix(name, "^{}") {
			refs[name] = sum
		}
	}
	return refs
}

// choose returns the full name of what ref means; "" when no branch or tag is
// called so and it may be a commit.
func choose(ref string, there map[string]string) (string, error) {
	if ref == "" {
		ref = "HEAD"
	}
	if there[ref] != "" {
		return ref, nil
	}
	head, tag := "refs/heads/"+ref, "refs/tags/"+ref
	switch {
	case there[head] != "" && there[tag] != "" && there[head] != there[tag]:
		return "", &problem.Error{
			Kind: problem.Invalid, Field: "code.ref", Text: fmt.Sprintf("%s is a branch and a tag, and they differ", ref),
			Hint: head + " or " + tag,
		}
	case there[head] != "":
		return head, nil
	case there[tag] != "":
		return tag, nil
	case someCommit.MatchString(ref):
		return "", nil
	}
	return "", &missingRef{ref: ref, there: there}
}

// A missingRef is a name that the repository has not.
type missingRef struct {
	ref       string
	there     map[string]string
	ambiguous bool
}

func (m *missingRef) Error() string { return "there is no " + m.ref }

func (m *missingRef) problem(r Remote) error {
	e := &problem.Error{Kind: problem.Invalid, Field: "code.ref", Text: fmt.Sprintf("%s has no branch, tag or commit %s", r.URL, m.ref), Hint: "git ls-remote " + r.URL}
	if m.ambiguous {
		e.Text, e.Hint = fmt.Sprintf("several commits of %s begin with %s", r.URL, m.ref), "write more of it"
		return e
	}
	var names []string
	for full := range m.there {
		for _, kind := range []string{"refs/heads/", "refs/tags/"} {
			if name, ok := strings.CutPrefix(full, kind); ok {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	switch near := problem.Nearest(m.ref, names); {
	case len(names) == 0:
		e.Text = r.URL + " is empty: it has no branch"
		e.Hint = "push a commit to it"
	case near != "":
		e.Hint = "did you mean " + near + "?"
	}
	return e
}
