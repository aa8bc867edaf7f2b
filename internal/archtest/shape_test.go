package archtest

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// maxLines is where a file has more than one subject.
const maxLines = 500

// nowhere are names that say nothing about what is inside.
var nowhere = []string{"util", "utils", "common", "helper", "helpers", "shared", "pkg", "misc", "base", "lib"}

func TestNamesSayWhatIsInside(t *testing.T) {
	for _, p := range tree(t) {
		for _, name := range strings.Split(p.path, "/") {
			if slices.Contains(nowhere, name) {
				t.Errorf("%s is called %s.\n\trule: no package is called one of %v\n\treason: such a package collects what nobody finds again; what it has lives with its only user, or in a package named for what it does", p.path, name, nowhere)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	const rule = "\n\trule: every package has exactly one package comment, Package x ... or, for a command, Command x ...\n\treason: one noun, one package, said in one place"
	for _, p := range tree(t) {
		var comments []string
		name, code := "", false
		for _, f := range p.files {
			if f.tests {
				continue
			}
			code, name = true, f.ast.Name.Name
			if f.ast.Doc != nil {
				comments = append(comments, f.ast.Doc.Text())
			}
		}
		if !code {
			continue
		}
		if len(comments) != 1 {
			t.Errorf("%s has %d package comments.%s", p.path, len(comments), rule)
			continue
		}
		want := "Package " + name + " "
		if name == "main" {
			want = "Command " + path.Base(p.path) + " "
		}
		if !strings.HasPrefix(comments[0], want) {
			t.Errorf("the package comment of %s begins %.40q, not %q.%s", p.path, comments[0], want, rule)
		}
	}
}

func TestFilesAreSmall(t *testing.T) {
	for _, p := range tree(t) {
		for _, f := range p.files {
			if f.lines > maxLines && !strings.HasPrefix(path.Base(f.path), "zz_generated") {
				t.Errorf("%s has %d lines.\n\trule: a file has at most %d\n\treason: a file that cannot be held in mind has more than one subject; split it by what it is about", f.path, f.lines, maxLines)
			}
		}
	}
}
