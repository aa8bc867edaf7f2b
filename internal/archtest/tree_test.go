package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "muster.dev/muster"

// A file is one Go file of this module.
type file struct {
	path    string // internal/job/spec.go
	lines   int
	ast     *ast.File
	imports []string
	tests   bool
}

// A pkg is the Go files of one folder, for all platforms and build tags.
type pkg struct {
	path  string // internal/job
	files []file
}

// root is the folder of go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above this folder")
		}
		dir = filepath.Dir(dir)
	}
}

// tree reads every package of the module, ordered by path.
func tree(t *testing.T) []pkg {
	t.Helper()
	top, all := root(t), map[string]*pkg{}
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if skipped := d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != top; skipped && d.IsDir() {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		rel, err := filepath.Rel(top, name)
		if err != nil {
			return err
		}
		f, err := read(name, filepath.ToSlash(rel))
		if err != nil {
			return err
		}
		dir := path.Dir(f.path)
		if all[dir] == nil {
			all[dir] = &pkg{path: dir}
		}
		all[dir].files = append(all[dir].files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var list []pkg
	for _, p := range all {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b pkg) int { return strings.Compare(a.path, b.path) })
	return list
}

func read(name, rel string) (file, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return file{}, err
	}
	f := file{path: rel, lines: bytes.Count(src, []byte("\n")), tests: strings.HasSuffix(rel, "_test.go")}
	if f.ast, err = parser.ParseFile(token.NewFileSet(), rel, src, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return file{}, err
	}
	for _, i := range f.ast.Imports {
		imported, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return file{}, err
		}
		f.imports = append(f.imports, imported)
	}
	return f, nil
}

// ours returns the path of a package of this module within it.
func ours(imported string) (string, bool) { return strings.CutPrefix(imported, module+"/") }

// under says whether a package is dir or inside it.
func under(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

func underAny(p string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return under(p, d) })
}
