package archtest

import (
	"slices"
	"strings"
	"testing"
)

// A row says what of ours a package may import. Its reason is for whoever wants
// more. A name that ends in /... is for everything under it.
type row struct {
	of     string
	may    []string
	reason string
}

var vocabulary = []string{"internal/job", "internal/engine", "internal/run", "internal/problem"}

// table has a row for every package under internal. Tests may import what they like.
var table = []row{
	{"internal/job", nil, "the vocabulary depends on nothing: everything else depends on it"},
	{"internal/problem", nil, "errors are known to all, and know nobody"},
	{"internal/ui", nil, "showing text needs no knowledge of what it is about"},
	{"internal/snapshot", nil, "content-addressed files are useful without jobs, and are tested without them"},
	{"internal/git", []string{"internal/problem"}, "a commit is fetched for whoever wants its files; what for is not asked"},
	{"internal/crash", nil, "crash points are no more than names"},
	{"internal/engine", []string{"internal/job"}, "an engine runs tasks; it knows nothing of runs, success or restarts"},
	{"internal/run", []string{"internal/job", "internal/engine"}, "a run is a job and what an engine tells of it"},
	{"internal/rendezvous", []string{"internal/job", "internal/engine", "internal/problem"}, "how tasks find each other is the same on every engine"},
	{"internal/launch", slices.Concat(vocabulary, []string{"internal/rendezvous"}), "how a task is started follows from its run and its node; the machine of whoever asks has no say in it"},
	{"internal/pool", vocabulary, "sharing out is decided purely, in whoever's transaction"},
	{"internal/supervisor", slices.Concat(vocabulary, []string{"internal/rendezvous"}), "decisions are the same on every engine: the same code runs in our process, in a YARN master and in an operator"},
	{"internal/report", slices.Concat(vocabulary, []string{"internal/ui", "internal/pool", "internal/rendezvous"}), "an explanation is made of the record alone, so that it can be made again later; what a run waits for is pool's to say, what its framework does rendezvous's"},
	{"internal/format/...", []string{"internal/job", "internal/problem", "internal/rendezvous", "internal/format/..."}, "a format is read into a job.Spec, and nothing more happens"},
	{"internal/store/...", slices.Concat(vocabulary, []string{"internal/store"}), "a store keeps records; whoever owns a run decides what is in them. It never imports control"},
	{"internal/taskhost/process", nil, "running processes well needs no knowledge of jobs"},
	{"internal/taskhost/wire", []string{"internal/job", "internal/engine"}, "what is said between owner and host is the engine's vocabulary"},
	{"internal/taskhost/...", []string{"internal/job", "internal/engine", "internal/problem", "internal/crash", "internal/taskhost/..."}, "a host obeys its owner: it never opens the store and decides no policy"},
	{"internal/rank", []string{"internal/job", "internal/engine", "internal/taskhost/..."}, "ranks inside a task are started where the task is, by what the host told it"},
	{"internal/engine/enginetest", slices.Concat(vocabulary, []string{"internal/control", "internal/store/memory"}), "the suite drives an engine as a control plane does; no engine is in it"},
	{"internal/engine/...", slices.Concat(vocabulary, []string{"internal/crash", "internal/snapshot", "internal/taskhost/..."}), "an engine never imports another engine, supervisor or control"},
	{"internal/run/servicetest", vocabulary, "the suite of run.Service must fit a remote service too"},
	{"internal/control", slices.Concat(vocabulary, []string{
		"internal/crash", "internal/git", "internal/launch", "internal/pool", "internal/rendezvous", "internal/snapshot", "internal/store", "internal/supervisor", "internal/taskhost/process",
	}), "a control plane is given its engine and its store: it imports neither a concrete one nor the command line"},
	{"internal/cli", []string{"internal/..."}, "only cli wires"},
	{"internal/archtest", nil, "rules import nothing that they rule"},
}

// covers says whether a name in the table means a package.
func covers(name, p string) bool {
	if dir, ok := strings.CutSuffix(name, "/..."); ok {
		return under(p, dir)
	}
	return name == p
}

// rowOf is the row that says most precisely which package it means.
func rowOf(p string) *row {
	var best *row
	for n := range table {
		if r := &table[n]; covers(r.of, p) && (best == nil || r.of == p || best.of != p && len(r.of) > len(best.of)) {
			best = r
		}
	}
	return best
}

func TestWhoImportsWhom(t *testing.T) {
	for _, p := range tree(t) {
		if !under(p.path, "internal") {
			continue
		}
		r := rowOf(p.path)
		if r == nil {
			t.Errorf("%s has no row.\n\trule: every package under internal has a row in the import table of internal/archtest\n\treason: a package whose place nobody can say has none", p.path)
			continue
		}
		for _, f := range p.files {
			if !f.tests {
				checkImports(t, p.path, f, r)
			}
		}
	}
}

func checkImports(t *testing.T, p string, f file, r *row) {
	t.Helper()
	for _, imported := range f.imports {
		own, ok := ours(imported)
		if !ok || allowed(own, r.may) {
			continue
		}
		may := "nothing of ours"
		if len(r.may) > 0 {
			may = "of ours only " + strings.Join(r.may, ", ")
		}
		t.Errorf("%s imports %s.\n\trule: %s may import %s\n\treason: %s", f.path, own, p, may, r.reason)
	}
}

func allowed(own string, may []string) bool {
	return slices.ContainsFunc(may, func(name string) bool { return covers(name, own) })
}

func TestTheTableNamesPackages(t *testing.T) {
	var paths []string
	for _, p := range tree(t) {
		paths = append(paths, p.path)
	}
	for _, r := range table {
		if !slices.ContainsFunc(paths, func(p string) bool { return covers(r.of, p) }) {
			t.Errorf("the table has a row for %s, which there is not", r.of)
		}
		if r.reason == "" {
			t.Errorf("the row of %s gives no reason", r.of)
		}
	}
}

func TestOnlyCliWires(t *testing.T) {
	for _, p := range tree(t) {
		for _, f := range p.files {
			for _, imported := range f.imports {
				own, ok := ours(imported)
				if own == "internal/cli" && !under(p.path, "cmd") && !f.tests {
					t.Errorf("%s imports internal/cli.\n\trule: only cmd imports cli\n\treason: the command line is the outside; what others need of it is in the wrong package", f.path)
				}
				if ok && under(p.path, "cmd") && own != "internal/cli" {
					t.Errorf("%s imports %s.\n\trule: a command imports only cli\n\treason: main is ten lines; wiring is in cli, where tests reach it", f.path, own)
				}
			}
		}
	}
}
