package archtest

import (
	"os/exec"
	"strings"
	"testing"
)

// A fence keeps a dependency to the packages that are named for it.
type fence struct {
	dependency string
	inside     []string
	tests      bool // test files may use it anywhere
	reason     string
}

var fences = []fence{
	{"modernc.org/sqlite", []string{"internal/store/sqlite"}, false, "durable state has one implementation, and memory is its twin"},
	{"github.com/spf13/cobra", []string{"internal/cli"}, false, "flags and commands are the command line's alone"},
	{"github.com/spf13/pflag", []string{"internal/cli"}, false, "flags and commands are the command line's alone"},
	{"go.yaml.in/yaml", []string{"internal/cli", "internal/format"}, true, "files are read by formats and written for people; everything between is Go values and JSON"},
	{"golang.org/x/sys", []string{"internal/control", "internal/crash", "internal/engine/local", "internal/rank", "internal/taskhost", "internal/ui", "test"}, true, "few packages speak to the kernel"},
	{"pgregory.net/rapid", nil, true, "property tests are tests"},
	{"github.com/rogpeppe/go-internal", nil, true, "scripts are tests"},
	{"k8s.io", []string{"api", "cmd/muster-operator", "internal/engine/kubernetes", "internal/operator"}, false, "Kubernetes costs memory and start-up where it is not used"},
	{"sigs.k8s.io/controller-runtime", []string{"api", "cmd/muster-operator", "internal/operator"}, false, "the operator is its own command: controller-runtime costs 12-16 ms at every start"},
}

func TestDependenciesStayBehindTheirFence(t *testing.T) {
	for _, p := range tree(t) {
		for _, f := range p.files {
			for _, imported := range f.imports {
				checkFences(t, p.path, f, imported)
			}
		}
	}
}

func checkFences(t *testing.T, p string, f file, imported string) {
	t.Helper()
	for _, fence := range fences {
		if !under(imported, fence.dependency) || underAny(p, fence.inside) || f.tests && fence.tests {
			continue
		}
		where := "tests"
		if len(fence.inside) > 0 {
			where = strings.Join(fence.inside, ", ")
		}
		t.Errorf("%s imports %s.\n\trule: %s is only for %s\n\treason: %s", f.path, imported, fence.dependency, where, fence.reason)
	}
}

// notLinked are what cmd/muster must not contain, be it through others.
var notLinked = []string{"sigs.k8s.io/controller-runtime", "k8s.io/client-go/kubernetes", "pgregory.net/rapid", "testing"}

func TestWhatMusterDoesNotLink(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/muster")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, p := range strings.Fields(string(out)) {
		for _, not := range notLinked {
			if p == not || not != "testing" && under(p, not) {
				t.Errorf("cmd/muster links %s.\n\trule: muster links neither controller-runtime nor typed client-go, nor what is for tests\n\treason: they cost milliseconds and megabytes at every start", p)
			}
		}
	}
}
