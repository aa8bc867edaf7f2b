package archtest

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pure are the packages that only compute: the same arguments give the same
// answer, so that every decision can be tested as a value and made again.
var pure = []string{
	"internal/job", "internal/problem", "internal/run", "internal/rendezvous", "internal/launch", "internal/supervisor", "internal/pool", "internal/report", "internal/format",
}

// impure are imports by which the world gets in, harmless those under them that
// only compute.
var (
	impure   = []string{"os", "net", "syscall", "golang.org/x/sys", "log", "math/rand", "crypto/rand", "database", "sync", "unsafe", "plugin"}
	harmless = []string{"net", "net/netip", "net/url"} // of net, what only decides allows
)

// only are what may be used of a package that also does more; never what may not.
var (
	only  = map[string][]string{"net": {"JoinHostPort", "SplitHostPort", "ParseIP", "IP"}}
	never = map[string][]string{"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}}
)

const pureReason = "decide purely, act thinly: time and state are arguments"

func TestPurePackages(t *testing.T) {
	for _, p := range tree(t) {
		if !underAny(p.path, pure) || p.path == "internal/run/servicetest" {
			continue
		}
		for _, f := range p.files {
			if !f.tests {
				checkPure(t, f)
			}
		}
	}
}

func checkPure(t *testing.T, f file) {
	t.Helper()
	for _, imported := range f.imports {
		if underAny(imported, impure) && !slices.Contains(harmless, imported) {
			t.Errorf("%s imports %s.\n\trule: pure packages import none of %v\n\treason: %s", f.path, imported, impure, pureReason)
		}
	}
	named := names(f.ast)
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s starts a goroutine.\n\trule: pure packages start none\n\treason: %s", f.path, pureReason)
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && !computes(named[x.Name], n.Sel.Name) {
				t.Errorf("%s uses %s.%s.\n\trule: pure packages ask no clock and reach no network\n\treason: %s", f.path, named[x.Name], n.Sel.Name, pureReason)
			}
		}
		return true
	})
}

// computes says that what a package offers under this name only computes.
func computes(imported, name string) bool {
	if of, ok := only[imported]; ok {
		return slices.Contains(of, name)
	}
	return !slices.Contains(never[imported], name)
}

// names are the packages that a file imports, by what it calls them.
func names(f *ast.File) map[string]string {
	all := map[string]string{}
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := path[1+strings.LastIndexByte(path, '/'):]
		if i.Name != nil {
			name = i.Name.Name
		}
		all[name] = path
	}
	return all
}
