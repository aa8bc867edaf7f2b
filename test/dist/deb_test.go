//go:build linux

package dist

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"muster.dev/muster/test/suite"
)

// installed are the files that both kinds of packages have.
var installed = []string{
	"/usr/bin/muster",
	"/usr/share/bash-completion/completions/muster",
	"/usr/share/fish/vendor_completions.d/muster.fish",
	"/usr/share/doc/muster/README.md",
	"/usr/share/man/man1/muster.1.gz",
	"/usr/share/man/man1/muster-run.1.gz",
}

func TestDebLists(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			deb := one(t, released(t), "muster_*_"+arch+".deb")
			for field, want := range map[string]string{"Package": "muster", "Architecture": arch, "Version": packageVersion + "-1", "Depends": ""} {
				if got := strings.TrimSpace(output(t, "dpkg-deb", "--field", deb, field)); got != want {
					t.Errorf("%s is %q, want %q", field, got, want)
				}
			}
			list := output(t, "dpkg-deb", "--contents", deb)
			for _, path := range append([]string{"/usr/share/zsh/vendor-completions/_muster", "/usr/share/doc/muster/copyright"}, installed...) {
				if !strings.Contains(list, " ."+path+"\n") {
					t.Errorf("%s is not in it:\n%s", path, list)
				}
			}
		})
	}
}

func TestDebInstalls(t *testing.T) {
	root := t.TempDir()
	install(t, root, one(t, released(t), "muster_*_"+runtime.GOARCH+".deb"))
	muster := filepath.Join(root, "usr/bin/muster")
	if got, want := output(t, muster, "version"), "muster "+version+" linux/"+runtime.GOARCH+" "; !strings.HasPrefix(got, want) {
		t.Errorf("muster version says %q, want %q", got, want)
	}
	output(t, "bash", "-n", filepath.Join(root, "usr/share/bash-completion/completions/muster"))
	pages := t.TempDir()
	output(t, muster, "man", pages)
	want := map[string]bool{}
	for path := range files(t, pages) {
		want[filepath.Base(path)+".gz"] = true
	}
	if got := manPages(files(t, root)); !maps.Equal(got, want) {
		t.Errorf("it has the pages %v, want %v", got, want)
	}
}

// install puts a package below root: as dpkg does, which only root can, or its
// files alone.
func install(t *testing.T, root, deb string) {
	t.Helper()
	if os.Geteuid() != 0 {
		output(t, "dpkg-deb", "--extract", deb, root)
		return
	}
	db := filepath.Join(root, "var/lib/dpkg")
	for _, dir := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(db, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(db, "status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	output(t, "dpkg", "--root="+root, "--log=/dev/null", "--install", deb)
	if state := output(t, "dpkg-query", "--admindir="+db, "--show", "--showformat=${db:Status-Abbrev}", "muster"); strings.TrimSpace(state) != "ii" {
		t.Errorf("dpkg holds it for %q, want installed", state)
	}
}

// files are the files below a folder; their contents do not matter.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found[path] = nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestVersionsOrder(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		suite.Require(t, "dist", err.Error())
	}
	versions := []string{"v1.2.0-rc.1", "v1.2.0-rc.1-2-g0a1b2c3", "v1.2.0-rc.2", "v1.2.0", "v1.2.0-3-gabc1234", "v1.2.0-12-g00c1234", "v1.2.1"}
	last := "1.1.9"
	for _, v := range versions {
		t.Setenv("VERSION", v)
		next := strings.TrimSpace(output(t, "../../scripts/version", "--package"))
		if err := exec.Command("dpkg", "--compare-versions", last, "lt", next).Run(); err != nil {
			t.Errorf("%s (%s) does not come after %s: %v", next, v, last, err)
		}
		last = next
	}
}
