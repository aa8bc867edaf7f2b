//go:build linux

package control

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// placeInputs puts a job's inputs in place before anything starts: a path of
// this machine as a link to it, a URL as what it gives.
func (p *Plane) placeInputs(ctx context.Context, r *run.Run, v *launch.Private) error {
	for n, in := range r.Spec.Inputs {
		at := filepath.Join(p.runDir(r.ID), launch.InputsDir, inputName(in, n))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
		if err := placeInput(ctx, in, at); err != nil {
			return &problem.Error{Kind: problem.Invalid, Field: fmt.Sprintf("inputs[%d].from", n), Text: err.Error()}
		}
		if in.Env != "" {
			v.AddToAll(&r.Spec, in.Env, at)
		}
		if in.Path == "" {
			continue
		}
		if err := p.linkIntoCode(r, in.Path, at); err != nil {
			return &problem.Error{Kind: problem.Invalid, Field: fmt.Sprintf("inputs[%d].path", n), Text: err.Error()}
		}
	}
	return nil
}

// inputName is how an input is called in the inputs folder.
func inputName(in job.Input, n int) string {
	if in.Name != "" {
		return in.Name
	}
	name := path.Base(strings.TrimRight(in.From, "/"))
	if u, err := url.Parse(in.From); err == nil && u.Path != "" {
		name = path.Base(u.Path)
	}
	if name == "" || name == "." || name == "/" || name == ".." {
		return fmt.Sprintf("input-%d", n)
	}
	return name
}

func placeInput(ctx context.Context, in job.Input, at string) error {
	if strings.HasPrefix(in.From, "http://") || strings.HasPrefix(in.From, "https://") {
		return fetch(ctx, in.From, at)
	}
	if _, err := os.Stat(in.From); err != nil {
		return err
	}
	return os.Symlink(in.From, at)
}

// fetch writes what a URL gives to a file, read-only, complete or not at all.
func fetch(ctx context.Context, from, at string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", from, res.Status)
	}
	f, err := os.OpenFile(at+".part", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o400)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, res.Body)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(at + ".part")
		return err
	}
	return os.Rename(at+".part", at)
}

// linkIntoCode shows an input at a path of the run's own copy of the code.
func (p *Plane) linkIntoCode(r *run.Run, name, at string) error {
	if r.Origin.Code == "" {
		return fmt.Errorf("needs code:, as nothing is put into your own folder; use env: instead")
	}
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%q leads out of the code", name)
	}
	link := filepath.Join(p.runDir(r.ID), launch.CodeDir, name)
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		return err
	}
	return os.Symlink(at, link)
}
