//go:build linux

package dist

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster.dev/muster/test/suite"
)

func TestVersionOfACheckout(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		suite.Require(t, "dist", err.Error())
	}
	dir := checkout(t)
	for _, step := range []struct{ name, command, want string }{
		{"no tag", "true", `^v0\.0\.0-1-g[0-9a-f]+$`},
		{"no tag, and changed", "echo 1 >file", `^v0\.0\.0-1-g[0-9a-f]+\+dirty$`},
		{"a release", "git commit -qam 1 && git tag v1.2.0", `^v1\.2\.0$`},
		{"a tag of something else", "git tag demo", `^v1\.2\.0$`},
		{"a release, and changed", "echo 2 >file", `^v1\.2\.0\+dirty$`},
		{"after a release", "git commit -qam 2", `^v1\.2\.0-1-g[0-9a-f]+$`},
	} {
		inCheckout(t, dir, step.command)
		if got := inCheckout(t, dir, "scripts/version"); !regexp.MustCompile(step.want).MatchString(got) {
			t.Errorf("%s: %q, want %s", step.name, got, step.want)
		}
	}
}

// checkout makes a repository of one commit that has the script in it.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script, err := os.ReadFile("../../scripts/version")
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "scripts"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "scripts/version"), script, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	inCheckout(t, dir, "git init -q && echo 0 >file && git add . && git commit -qm 0")
	return dir
}

func inCheckout(t *testing.T, dir, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "VERSION=", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return strings.TrimSpace(string(out))
}
