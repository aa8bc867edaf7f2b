//go:build linux

package control

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/run"
)

// outputEnv tells tasks where named outputs belong.
func (p *Plane) outputEnv(r *run.Run, v *launch.Private) {
	for _, o := range r.Spec.Outputs {
		if o.Env != "" {
			v.AddToAll(&r.Spec, o.Env, p.outputPath(r, o))
		}
	}
}

// outputPath is where a task writes an output: the path it names, which if it
// is relative or missing lies in the run's output folder.
func (p *Plane) outputPath(r *run.Run, o job.Output) string {
	if filepath.IsAbs(o.Path) {
		return o.Path
	}
	if o.Env != "" {
		return filepath.Join(p.runDir(r.ID), launch.OutputsDir, o.Path)
	}
	return filepath.Join(p.workDir(r), o.Path)
}

// workDir is where the tasks of a run work by default.
func (p *Plane) workDir(r *run.Run) string {
	if r.Origin.Code != "" {
		return filepath.Join(p.runDir(r.ID), launch.CodeDir)
	}
	return r.Origin.Dir
}

// collect keeps a run's outputs. It is done before the verdict is stored, and
// doing it again, after the death of an owner, does no harm.
func (p *Plane) collect(r *run.Run) error {
	var errs []error
	for n, o := range r.Spec.Outputs {
		if !wantedOutput(o, r.Phase) {
			continue
		}
		if err := p.collectOne(r, o); err != nil {
			errs = append(errs, fmt.Errorf("outputs[%d]: %w", n, err))
		}
	}
	return errors.Join(errs...)
}

func wantedOutput(o job.Output, phase run.Phase) bool {
	switch o.When {
	case "success":
		return phase == run.Succeeded
	case "failure":
		return phase == run.Failed
	}
	return true
}

func (p *Plane) collectOne(r *run.Run, o job.Output) error {
	from, _ := throughVolumes(&r.Spec, p.outputPath(r, o))
	kept := filepath.Join(p.runDir(r.ID), launch.OutputsDir)
	base := p.workDir(r)
	if filepath.IsAbs(o.Path) {
		base = filepath.Dir(o.Path)
	}
	found, err := filepath.Glob(from)
	if err != nil {
		return err
	}
	for _, f := range found {
		name, err := filepath.Rel(base, f)
		if err != nil || !filepath.IsLocal(name) {
			name = filepath.Base(f)
		}
		at := filepath.Join(kept, name)
		if in, err := filepath.Rel(kept, f); err == nil && filepath.IsLocal(in) {
			at = f // it was written there already
		} else if err := copyTree(f, at); err != nil {
			return err
		}
		if o.To != "" {
			to := o.To
			if !filepath.IsAbs(to) {
				to = filepath.Join(r.Origin.Dir, to)
			}
			if err := copyTree(at, filepath.Join(to, filepath.Base(f))); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyTree copies a file or a folder. Links are copied as links, and what is
// neither is left out.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(at, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			_ = os.Remove(at)
			return os.Symlink(target, at)
		case d.Type().IsRegular():
			return copyFile(path, at)
		}
		return nil
	})
}

// copyFile copies a file, complete or not at all.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	tmp := to + ".part"
	out, err := os.OpenFile(tmp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if st, serr := in.Stat(); err == nil && serr == nil {
		err = os.Chtimes(tmp, st.ModTime(), st.ModTime()) // who looks for the newest checkpoint finds it
	}
	if err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return os.Rename(tmp, to)
}
