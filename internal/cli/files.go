package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

func newFilesCommand(a *app) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "files [RUN]", Short: "List what is kept of a run: outputs, checkpoints, its copy of the code", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			_, r, list, err := a.filesOf(c.Context(), args)
			if err != nil {
				return err
			}
			if format != "" {
				names := make([]string, len(list))
				for i, f := range list {
					names[i] = f.Path
				}
				return a.print(format, list, names...)
			}
			if len(list) == 0 {
				fmt.Fprintf(a.stderr, "%s has kept no files: tasks write what is to stay into $MUSTER_OUTPUT_DIR\n", r.ID)
				return nil
			}
			rows := [][]string{{"SIZE", "CHANGED", "FILE"}}
			for _, f := range list {
				rows = append(rows, []string{ui.Bytes(f.Size), f.Time.Local().Format("2006-01-02 15:04:05"), cleanName(f.Path)})
			}
			fmt.Fprint(a.stdout, ui.Detect(a.stdout, a.env).Table(rows))
			return nil
		},
	}
	formatFlag(c, &format, "json|yaml|name")
	return c
}

// filesOf finds a run and the files that are kept of it.
func (a *app) filesOf(ctx context.Context, args []string) (run.Files, run.Run, []run.File, error) {
	svc, r, err := a.find(ctx, args)
	if err != nil {
		return nil, r, nil, err
	}
	files, ok := svc.(run.Files)
	if !ok {
		return nil, r, nil, problem.New(problem.Refused, "the files of runs cannot be read from here")
	}
	list, err := files.Files(ctx, r.ID)
	if list == nil {
		list = []run.File{}
	}
	return files, r, list, err
}

func newCpCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "cp RUN:PATH DEST", Short: "Copy files of a run out: a file, a folder, or with RUN: all its outputs", Args: cobra.ExactArgs(2),
		Long: "Cp copies what muster files lists. A path in the outputs may leave out \"outputs/\". A folder\n" +
			"comes with all that is in it. DEST is a file or a folder; - writes one file to stdout.",
		Example: "  muster cp digits:model.params .\n  muster cp digits-k3f9:checkpoint ./ckpt\n  muster cp digits: ./outputs",
		RunE: func(c *cobra.Command, args []string) error {
			ref, from, ok := strings.Cut(args[0], ":")
			if !ok {
				return usageError(c, "%s: want RUN:PATH", args[0])
			}
			files, r, list, err := a.filesOf(c.Context(), []string{ref})
			if err != nil {
				return err
			}
			chosen := choose(list, from)
			if len(chosen) == 0 {
				return problem.New(problem.NotFound, "%s has no file %q", r.ID, from).WithHint("muster files %s", r.ID)
			}
			return a.copyOut(c.Context(), files, r.ID, chosen, args[1])
		},
	}
}

// A chosenFile is one to be copied, and what it is called below the place
// where it is copied to: nothing for the one file that was named.
type chosenFile struct{ path, name string }

// choose finds the files that a path means: that file, or all in that folder.
func choose(list []run.File, from string) []chosenFile {
	from = strings.TrimSuffix(path.Clean("/" + from)[1:], "/")
	for _, root := range []string{from, path.Join("outputs", from)} {
		var found []chosenFile
		for _, f := range list {
			if f.Path == root {
				return []chosenFile{{f.Path, ""}}
			}
			if name, ok := strings.CutPrefix(f.Path, root+"/"); ok && root != "" {
				found = append(found, chosenFile{f.Path, name})
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func (a *app) copyOut(ctx context.Context, files run.Files, id string, chosen []chosenFile, dest string) error {
	if dest == "-" {
		if len(chosen) != 1 || chosen[0].name != "" {
			return problem.New(problem.Invalid, "only one file can be written to stdout, not a folder")
		}
		return copyTo(ctx, files, id, chosen[0].path, a.stdout)
	}
	st, err := os.Stat(dest)
	into := err == nil && st.IsDir() || strings.HasSuffix(dest, "/")
	for _, f := range chosen {
		at := filepath.Join(dest, f.name)
		if f.name == "" && into {
			at = filepath.Join(dest, path.Base(f.path))
		}
		if err := copyFileTo(ctx, files, id, f.path, at); err != nil {
			return err
		}
		fmt.Fprintln(a.stdout, cleanName(at))
	}
	return nil
}

// copyFileTo copies one file, complete or not at all.
func copyFileTo(ctx context.Context, files run.Files, id, from, at string) error {
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(at), "."+filepath.Base(at)+".*")
	if err != nil {
		return err
	}
	err = copyTo(ctx, files, id, from, out)
	err = errors.Join(err, out.Chmod(0o644), out.Close())
	if err == nil {
		err = os.Rename(out.Name(), at)
	}
	if err != nil {
		_ = os.Remove(out.Name())
	}
	return err
}

func copyTo(ctx context.Context, files run.Files, id, from string, to io.Writer) error {
	in, err := files.Open(ctx, id, from)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(to, in)
	return err
}
