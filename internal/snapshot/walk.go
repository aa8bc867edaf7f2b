package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The files that say what stays out. Those above the root, and git's own
// excludes, do not count: the same folder is the same snapshot everywhere.
const (
	gitIgnore    = ".gitignore"
	musterIgnore = ".musterignore"
)

// vcs are the folders and files of version control, never part of a snapshot.
var vcs = []string{".git", ".hg", ".svn", ".bzr", ".jj", ".sl", ".pijul", "_darcs"}

// A tree is what a walk found. Files have no sum yet.
type tree struct {
	root    string
	entries []entry
	files   []int   // which entries are files
	stamps  []stamp // of these files
	real    string  // the root without links
	dev     uint64  // the device whose stamps can be relied on; 0 for none
}

// name is the path of an entry as its owner would type it.
func (t *tree) name(rel string) string { return filepath.Join(t.root, rel) }

// A walker lists a folder.
type walker struct {
	tree
	ctx  context.Context
	max  int
	skip map[string]bool // absolute paths

	committed bool // see Options
}

// walk lists what belongs into a snapshot of root and checks all that can be
// checked without reading files.
func walk(ctx context.Context, root string, o Options) (*tree, error) {
	real, err := resolve(root)
	if err != nil {
		return nil, &Error{Path: root, Text: "cannot be read", Err: bare(err)}
	}
	w := &walker{tree: tree{root: root, real: real, dev: localDev(real)}, ctx: ctx, max: o.MaxFiles, committed: o.Committed, skip: map[string]bool{}}
	for _, s := range o.Skip {
		if s, err := resolve(s); err == nil {
			w.skip[s] = true
		}
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return nil, &Error{Path: root, Text: "is not a folder", Hint: "name the folder that holds it"}
	}
	if err := w.dir(".", nil); err != nil {
		return nil, err
	}
	if err := w.checkLinks(); err != nil {
		return nil, err
	}
	return &w.tree, w.checkSize(o.MaxSize)
}

func resolve(p string) (string, error) {
	p, err := filepath.Abs(p)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(p)
}

// dir lists one folder and those below it. A folder in which nothing was found
// is an entry of its own, so that programs can write into it.
func (w *walker) dir(dir string, ig *ignorer) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	list, err := os.ReadDir(filepath.Join(w.real, dir))
	if err != nil {
		return w.unreadable(dir, err)
	}
	if ig, err = w.ignorer(dir, ig, list); err != nil {
		return err
	}
	before := len(w.entries)
	for _, d := range list {
		rel := path.Join(dir, d.Name())
		if slices.Contains(vcs, d.Name()) || ig.ignored(rel, d.IsDir()) || w.skip[filepath.Join(w.real, rel)] {
			continue
		}
		if err := w.one(rel, d, ig); err != nil {
			return err
		}
	}
	if len(w.entries) == before && dir != "." {
		return w.add(entry{Path: dir})
	}
	return nil
}

// ignorer reads the ignore files of a folder. Like git, it does not follow
// links to them.
func (w *walker) ignorer(dir string, above *ignorer, list []fs.DirEntry) (*ignorer, error) {
	var rules [2][]rule
	for i, name := range []string{gitIgnore, musterIgnore} {
		at, ok := slices.BinarySearchFunc(list, name, func(d fs.DirEntry, n string) int {
			return strings.Compare(d.Name(), n)
		})
		if !ok || !list[at].Type().IsRegular() || w.committed && name == gitIgnore {
			continue
		}
		text, err := os.ReadFile(filepath.Join(w.real, dir, name))
		if err != nil {
			return nil, w.unreadable(path.Join(dir, name), err)
		}
		rules[i] = parseRules(text)
	}
	return above.below(dir, rules[0], rules[1]), nil
}

// one adds a file, a link or the content of a folder.
func (w *walker) one(rel string, d fs.DirEntry, ig *ignorer) error {
	if !validName(rel) {
		return w.keepOut(rel, "its name is not UTF-8 text", "rename it")
	}
	switch d.Type() {
	case fs.ModeDir:
		return w.dir(rel, ig)
	case fs.ModeSymlink:
		target, err := os.Readlink(filepath.Join(w.real, rel))
		if err != nil {
			return w.unreadable(rel, err)
		}
		if !validName(target) {
			return w.keepOut(rel, "its target is not UTF-8 text", "rename it")
		}
		return w.add(entry{Path: rel, Link: target})
	case 0:
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // as if it had been removed before we came
		}
		if err != nil {
			return w.unreadable(rel, err)
		}
		w.files, w.stamps = append(w.files, len(w.entries)), append(w.stamps, stampOf(info))
		return w.add(entry{Path: rel, Size: info.Size(), Exec: info.Mode()&0o100 != 0})
	}
	return w.keepOut(rel, fmt.Sprintf("a %s, which a snapshot cannot hold", special(d.Type())), "move it elsewhere")
}

func special(m fs.FileMode) string {
	switch {
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

func (w *walker) add(e entry) error {
	w.entries = append(w.entries, e)
	if len(w.entries) > w.max {
		return w.tooMany()
	}
	return nil
}

func (w *walker) checkLinks() error {
	links := linksOf(w.entries)
	for _, e := range w.entries {
		switch {
		case e.Link == "":
		case path.IsAbs(e.Link):
			return w.keepOut(e.Path, "a link with an absolute target, "+e.Link, "make it relative")
		case leadsOut(e.Path, links):
			return w.keepOut(e.Path, "a link that leads out of the folder, to "+e.Link, "copy what it leads to")
		}
	}
	return nil
}

// keepOut is the error for what a snapshot cannot hold.
func (w *walker) keepOut(rel, text, instead string) error {
	hint := fmt.Sprintf("%s, or keep it out with the line /%s in %s", instead, rel, w.name(musterIgnore))
	return &Error{Path: w.name(rel), Text: text, Hint: hint}
}

func (t *tree) unreadable(rel string, err error) error {
	if rel == "." {
		return &Error{Path: t.root, Text: "cannot be read", Err: bare(err)}
	}
	hint := fmt.Sprintf("make it readable, or keep it out with the line /%s in %s", rel, t.name(musterIgnore))
	return &Error{Path: t.name(rel), Text: "cannot be read", Hint: hint, Err: bare(err)}
}

// bare drops the path that the system's errors repeat.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
