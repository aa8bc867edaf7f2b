package snapshot

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster.dev/muster/test/suite"
)

// git runs git in dir, without the settings of this machine's user.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir,
		"XDG_CONFIG_HOME="+dir, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, stderr.String())
	}
	return string(out)
}

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		suite.Require(t, "git", "git is not here")
	}
}

// compare lists a folder with git and with walk.
func compare(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "init", "-q")
	out := git(t, dir, "ls-files", "-z", "--others", "--exclude-standard")
	want := strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
	slices.Sort(want)
	found, err := walk(context.Background(), dir, Options{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, i := range found.files {
		got = append(got, found.entries[i].Path)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s\nfiles %q\ngit   %q", rulesIn(dir), got, want)
	}
}

func rulesIn(dir string) string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(dir, "*", gitIgnore))
	for _, f := range append(files, filepath.Join(dir, gitIgnore)) {
		text, _ := os.ReadFile(f)
		fmt.Fprintf(&b, "%s: %q\n", strings.TrimPrefix(f, dir), text)
	}
	return b.String()
}

func TestGitAgreesWithTheTable(t *testing.T) {
	needGit(t)
	for _, c := range ignoreCases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for p := range strings.FieldsSeq(c.ignored + " " + c.kept) {
				p = strings.ReplaceAll(p, "_", " ")
				if strings.HasSuffix(p, "/") {
					p += "inside"
				}
				// Some tables hold both a file and a folder of one name.
				_ = os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755)
				_ = os.WriteFile(filepath.Join(dir, p), nil, 0o644)
			}
			write(t, dir, gitIgnore, c.lines)
			compare(t, dir)
		})
	}
}

// stars matches what this test leaves out: in patterns such as a**/b, which
// git's manual calls regular asterisks, releases of git up to 2.52 match folders.
var stars = regexp.MustCompile(`[^/\n!]\*\*+\\?/`)

// seed chooses the random trees; the same ones each time unless asked.
var seed = flag.Uint64("seed", 1, "of the random trees that git is asked about")

func TestGitAgreesOnRandomTrees(t *testing.T) {
	needGit(t)
	r := rand.New(rand.NewPCG(*seed, 0))
	for range 60 {
		dir := t.TempDir()
		randomTree(t, r, dir, 0)
		if compare(t, dir); t.Failed() {
			t.Fatalf("seed %d", *seed)
		}
	}
}

func randomTree(t *testing.T, r *rand.Rand, dir string, depth int) {
	if r.IntN(3) > 0 || depth == 0 {
		write(t, dir, gitIgnore, randomRules(r))
	}
	for _, name := range []string{"a", "b", "ab", "a.b", "[a]", "-", "a b"} {
		switch n := r.IntN(4); {
		case n == 0 && depth < 3:
			randomTree(t, r, filepath.Join(dir, name), depth+1)
		case n < 3:
			write(t, dir, name, "")
		}
	}
}

func randomRules(r *rand.Rand) string {
	parts := []string{"a", "b", "*", "**", "/", "**/", "/**", "?", ".", "[ab]", "[!a]", "[a-c]", "[[:alpha:]]", "[", "]", `\`, `\a`, " ", "-"}
	for {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString([]string{"", "", "/", "!", "!/"}[r.IntN(5)])
			for range 1 + r.IntN(4) {
				b.WriteString(parts[r.IntN(len(parts))])
			}
			b.WriteString([]string{"\n", "/\n", " \n"}[r.IntN(3)])
		}
		if !stars.MatchString(b.String()) {
			return b.String()
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
