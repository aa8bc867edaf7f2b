//go:build linux

package enginetest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"muster.dev/muster/internal/engine"
)

// The variables through which test binaries that start themselves again talk.
const (
	binVar   = "MUSTER_ENGINETEST_BIN"   // where the programs are
	orderVar = "MUSTER_ENGINETEST_ORDER" // be an owner, with this order
)

// parallel is how many cases run at once: most of them wait most of the time.
const parallel = "8"

// Main is the TestMain of a package that wires an engine. It builds the
// programs that the suite needs, once, and checks that no test has left
// anything in the folder for temporary files. As a process started by the suite
// it is an owner.
func Main(m *testing.M, newEngine func() engine.Engine) int {
	if order := os.Getenv(orderVar); order != "" {
		return beOwner(newEngine(), order)
	}
	flag.Parse()
	_ = flag.Set("test.parallel", parallel)
	if os.Getenv(binVar) != "" { // started again as another user
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "enginetest-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = prepare(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "enginetest:", err)
		return 1
	}
	code := m.Run()
	if left := inFolder(os.TempDir()); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "enginetest: temporary files are left behind:", left)
		return max(code, 1)
	}
	return code
}

// prepare builds the programs where every user can read them, and gives the
// tests a folder of their own for temporary files.
func prepare(dir string) error {
	bin, tmp := filepath.Join(dir, "bin"), filepath.Join(dir, "tmp")
	err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(bin, 0o755), os.Mkdir(tmp, 0o755))
	if err != nil {
		return err
	}
	build := exec.Command("go", "build", "-o", bin+"/", "muster.dev/muster/cmd/muster", "muster.dev/muster/test/trainer")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // they run in containers, too
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build muster and trainer: %w\n%s", err, out)
	}
	return errors.Join(os.Setenv(binVar, bin), os.Setenv("TMPDIR", tmp))
}

// inFolder lists what is in a folder, but for what containerd dumps there when
// dockerd finds it slow on a busy machine.
func inFolder(dir string) []string {
	var names []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if dump, _ := filepath.Match("containerd.*.stacks.log", e.Name()); !dump {
			names = append(names, e.Name())
		}
	}
	return names
}

// Binary is the path of a program that Main has built: muster or trainer.
func Binary(name string) string { return filepath.Join(os.Getenv(binVar), name) }

// InOwner says that this process is an owner that the suite has started, and
// has no children but those of its engine.
func InOwner() bool { return os.Getenv(orderVar) != "" }

// AsUser runs tests of this binary again as another user.
func AsUser(t *testing.T, uid uint32, tests string) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user; the other tests run as this one")
	}
	home := t.TempDir()
	self := filepath.Join(home, "test")
	err := errors.Join(readable(home, os.TempDir()), copyProgram(self), os.Mkdir(home+"/tmp", 0o700), os.Chown(home+"/tmp", int(uid), int(uid)))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run="+tests, "-test.v", "-test.timeout=8m")
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home+"/tmp", "TMPDIR="+home+"/tmp")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Run(); err != nil {
		t.Errorf("as user %d: %v", uid, err)
	}
	if left := inFolder(home + "/tmp"); len(left) > 0 {
		t.Errorf("user %d left temporary files behind: %v", uid, left)
	}
}

// readable opens the way from a folder up to one that is open already.
func readable(dir, upTo string) error {
	for ; dir != upTo; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// copyProgram copies the running program: where go test has built it, nobody
// else can read it.
func copyProgram(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b, err := fs.ReadFile(os.DirFS(filepath.Dir(self)), filepath.Base(self))
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755)
}
