//go:build linux

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pin matches a Python package at a version, as the scripts install it.
var pin = regexp.MustCompile(`\b([a-z][a-z0-9-]*)==([0-9][\w.]*)`)

// onlyTools are installed for the suites and are nothing that is tested.
var onlyTools = map[string]bool{"scikit-learn": true, "setuptools": true, "tornado": true, "cloudpickle": true}

// docs/status.md names the versions that the suites install, and no other.
func TestStatusNamesWhatIsInstalled(t *testing.T) {
	status := read(t, "docs/status.md")
	scripts, err := filepath.Glob(root + "/scripts/*-env")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	n := 0
	for _, script := range scripts {
		data, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pin.FindAllStringSubmatch(string(data), -1) {
			if name := m[1] + " " + m[2]; !onlyTools[m[1]] {
				n++
				if !strings.Contains(status, name) {
					t.Errorf("%s installs %s, and docs/status.md does not say so", filepath.Base(script), name)
				}
			}
		}
	}
	if n == 0 {
		t.Error("no script installs anything: the pattern is wrong")
	}
}

// The Go that README.md asks for is the one that go.mod does.
func TestGoVersion(t *testing.T) {
	m := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))
	if m == nil {
		t.Fatal("go.mod names no Go")
	}
	for _, document := range []string{"README.md", "docs/status.md"} {
		if want := "Go " + m[1] + " or newer"; !strings.Contains(read(t, document), want) {
			t.Errorf("%s should say %q", document, want)
		}
	}
}

// The example in docs/groups.md is the file itself.
func TestGroupExample(t *testing.T) {
	_, file, _ := strings.Cut(read(t, "examples/group/muster.yaml"), "\n") // without its first comment
	if !strings.Contains(read(t, "docs/groups.md"), "```yaml\n"+file+"```\n") {
		t.Error("docs/groups.md does not show examples/group/muster.yaml as it is")
	}
}
