//go:build linux

package docs

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster.dev/muster/test/suite"
)

// patience is how long a command of a document may take.
const patience = 5 * time.Minute

// home is what documents show for the folder that a session has as its HOME.
const home = "/home/you"

// A session is where the commands of a document run, one after the other: a
// checkout in a home of its own.
type session struct {
	t    *testing.T
	home string
	work string
	env  []string
}

// newSession makes one; with a suite's name, what that suite needs is on PATH.
func newSession(t *testing.T, name string) *session {
	t.Helper()
	path := binaries + ":" + pythons(t, name) + ":" + os.Getenv("PATH")
	s := &session{t: t, home: t.TempDir()}
	s.work = filepath.Join(s.home, "muster")
	for _, dir := range []string{"cmd", "internal", "scripts", "examples"} {
		if err := os.CopyFS(filepath.Join(s.work, dir), os.DirFS(filepath.Join(root, dir))); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"Makefile", "go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		s.file(file, data)
	}
	s.env = []string{"HOME=" + s.home, "PATH=" + path, "TZ=UTC", "LANG=C.UTF-8", "TERM=dumb", "TMPDIR=" + os.TempDir(),
		"MUSTER_CACHE=" + filepath.Dir(filepath.Dir(output(t, root+"/scripts/demo-env", "--path")))}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GONOSUMDB", "GOFLAGS", "GOSUMDB", "GOTOOLCHAIN"} {
		s.env = append(s.env, name+"="+output(t, "go", "env", name))
	}
	t.Cleanup(s.end)
	return s
}

// pythons is the folder of the suite's python, or of this machine's.
func pythons(t *testing.T, name string) string {
	t.Helper()
	switch name {
	case "mxnet":
		_, err := exec.Command(root + "/scripts/demo-env").Output()
		suite.Require(t, name, why("scripts/demo-env", err))
		return output(t, root+"/scripts/demo-env", "--path")
	case "":
		out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
		suite.Require(t, "python3", why("python3", err))
		return filepath.Dir(strings.TrimSpace(string(out)))
	}
	t.Fatalf("a console cannot need %q", name)
	return ""
}

// why is a reason in one line, "" for none.
func why(what string, err error) string {
	if err == nil {
		return ""
	}
	return what + ": " + err.Error()
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return strings.TrimSpace(string(out))
}

func (s *session) file(name string, data []byte) {
	s.t.Helper()
	path := filepath.Join(s.work, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// run returns what a command prints, on stdout and stderr as it comes, into a
// pipe. Its exit code is for the document to show.
func (s *session) run(command string) []string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.work, s.env, &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		s.t.Fatalf("%s: took more than %s: %v\n%s", command, patience, err, out.String())
	}
	text := strings.TrimRight(strings.ReplaceAll(out.String(), s.home, home), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// end stops what a document has left running.
func (s *session) end() {
	s.run("muster ps -o name | xargs -r -n 1 muster stop --force")
}
