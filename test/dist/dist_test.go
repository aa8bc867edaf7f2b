//go:build linux

package dist

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"muster.dev/muster/test/suite"
)

// What the build under test is told to be.
const (
	version        = "v9.8.7-rc.1"
	packageVersion = "9.8.7~rc.1"
	epoch          = 1735776000
)

// noTool is how scripts/dist exits where it cannot work.
const noTool = 3

// scratch outlives the tests that share a build.
var scratch string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "muster-dist-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	return m.Run()
}

// release makes everything once.
var release = sync.OnceValue(func() error { return makeRelease(filepath.Join(scratch, "all"), "022") })

// released returns the folder with everything that is released.
func released(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"dpkg", "dpkg-deb", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			suite.Require(t, "dist", err.Error())
		}
	}
	err := release()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == noTool {
		suite.Require(t, "dist", err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(scratch, "all")
}

// makeRelease runs scripts/dist, with more of the environment when given.
func makeRelease(dir, umask string, env ...string) error {
	cmd := exec.Command("sh", "-c", `umask "$1" && exec ../../scripts/dist "$2"`, "sh", umask, dir)
	cmd.Env = append(append(os.Environ(), "VERSION="+version, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", epoch)), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("scripts/dist: %w\n%s", err, stderr.String())
	}
	return nil
}

// output runs a command and returns what it says.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, stderr.String())
	}
	return string(out)
}

// one returns the only file of a pattern.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v; want one file", pattern, found, err)
	}
	return found[0]
}

// sums are the checksums in a folder's SHA256SUMS, by file name.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]string{}
	for line := range strings.Lines(string(data)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		by[name] = sum
	}
	return by
}

func TestChecksums(t *testing.T) {
	dir := released(t)
	cmd := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	listed := sums(t, dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "SHA256SUMS" && listed[e.Name()] == "" {
			t.Errorf("%s has no checksum", e.Name())
		}
	}
	if want := 4 + 2*2; len(listed) != want { // archives; deb and rpm for both Linuxes
		t.Errorf("%d files are released, want %d: %v", len(listed), want, listed)
	}
}

func TestTheSameSourcesMakeTheSameBytes(t *testing.T) {
	first := sums(t, released(t))
	again, elsewhere := t.TempDir(), t.TempDir()
	err := makeRelease(again, "077", "PLATFORMS=linux/"+runtime.GOARCH, "TMPDIR="+elsewhere, "TZ=Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	second := sums(t, again)
	if len(second) != 3 {
		t.Errorf("one platform is %d files, want an archive, a deb and an rpm", len(second))
	}
	for name, sum := range second {
		if sum != first[name] {
			t.Errorf("%s has the checksum %s, and had %q", name, sum, first[name])
		}
	}
}
