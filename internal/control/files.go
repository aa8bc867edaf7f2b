//go:build linux

package control

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

var (
	_ run.Files = (*Plane)(nil)
	_ run.Taker = (*Plane)(nil)
)

// kept are the folders of a run that people may look into, by the names they
// have in paths.
var kept = []string{launch.OutputsDir, launch.CheckpointDir, launch.CodeDir}

// Files implements run.Files.
func (p *Plane) Files(ctx context.Context, id string) ([]run.File, error) {
	r, err := p.config.Store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	var all []run.File
	for _, top := range kept {
		root := filepath.Join(p.runDir(r.ID), top)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // what is not there, or is no file, is not listed
			}
			st, err := d.Info()
			if err != nil {
				return nil
			}
			name, err := filepath.Rel(p.runDir(r.ID), path)
			if err != nil {
				return err
			}
			all = append(all, run.File{Path: name, Size: st.Size(), Time: st.ModTime()})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Open implements run.Files. A path never leads out of the run's folder, also
// not through links that tasks have made.
func (p *Plane) Open(ctx context.Context, id, path string) (io.ReadCloser, error) {
	r, err := p.config.Store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(p.runDir(r.ID))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, try := range []string{path, filepath.Join(launch.OutputsDir, path)} {
		if !inKept(try) {
			continue
		}
		f, err := root.Open(filepath.Clean(try))
		if err != nil {
			continue
		}
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			return f, nil
		}
		_ = f.Close()
	}
	return nil, problem.New(problem.NotFound, "%s has no file %q", r.ID, path).WithHint("muster files %s", r.ID)
}

func inKept(path string) bool {
	for _, top := range kept {
		if rel, err := filepath.Rel(top, path); err == nil && filepath.IsLocal(rel) && rel != "." {
			return true
		}
	}
	return false
}
