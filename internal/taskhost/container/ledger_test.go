//go:build linux

package container

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster.dev/muster/internal/engine"
)

// A fake runtime that has two containers until they are removed, one of which it
// is removing already. It writes down what is asked.
const sweeper = `echo "$*" >> "$LOG"
case $1 in
ps) [ -e "$LOG.4567" ] || echo 0123 4567 ;;
rm) case $4 in 4567) touch "$LOG.4567"; echo 'removal of container 4567 is already in progress' >&2; exit 1;; esac ;;
esac
`

func TestSweep(t *testing.T) {
	dir, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	r := engine.Runtime{Kind: engine.Docker, Path: filepath.Join(tools(t, map[string]string{"docker": sweeper}), "docker"), Env: []string{"LOG=" + log}}
	if err := Sweep(dir, "train-p7xq"); err != nil {
		t.Fatalf("a run without containers: %v", err)
	}
	for _, name := range []string{"one", "two"} {
		if err := Enter(dir, name, r); err != nil {
			t.Fatal(err)
		}
	}
	cut := filepath.Join(Dir(dir), "three"+entrySuffix)
	if err := os.WriteFile(cut, []byte(`{"kind":"do`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(dir, "train-p7xq"); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(Dir(dir))
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	asked, err := os.ReadFile(log)
	want := "ps --all --quiet --filter label=muster.run=train-p7xq\nrm --force --volumes 0123\nrm --force --volumes 4567\n" +
		"ps --all --quiet --filter label=muster.run=train-p7xq\n"
	if err != nil || string(asked) != want {
		t.Errorf("asked %q, %v", asked, err)
	}
}

// A runtime does not know yet, or does not know any more, of a container that a
// process has in its hands.
func TestSweepAwaitsMakers(t *testing.T) {
	for _, option := range []string{"--name", "-n"} {
		dir, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
		r := engine.Runtime{Kind: engine.Podman, Path: filepath.Join(tools(t, map[string]string{"podman": `echo "$1" >> "$LOG"`}), "podman"), Env: []string{"LOG=" + log}}
		name := filepath.Base(filepath.Dir(dir)) + "-maker"
		if err := Enter(dir, name, r); err != nil {
			t.Fatal(err)
		}
		maker := exec.Command("sh", "-c", `sleep 0.2; echo ended >> "$LOG"`, "sh", option, name)
		maker.Env = append(os.Environ(), r.Env...)
		if err := maker.Start(); err != nil {
			t.Fatal(err)
		}
		if err := Sweep(dir, "train-p7xq"); err != nil {
			t.Error(err)
		}
		_ = maker.Wait()
		if asked, err := os.ReadFile(log); err != nil || string(asked) != "ended\nps\n" {
			t.Errorf("%s: %q, %v", option, asked, err)
		}
	}
}

func TestSweepFails(t *testing.T) {
	dir := t.TempDir()
	broken := engine.Runtime{Kind: engine.Docker, Path: filepath.Join(tools(t, map[string]string{"docker": daemonless}), "docker")}
	if err := Enter(dir, "one", broken); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(dir, "train-p7xq"); err == nil || !strings.Contains(err.Error(), "Cannot connect") {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(Dir(dir)); len(left) != 1 {
		t.Errorf("what could not be removed must stay on the ledger: %v", left)
	}
	Strike(dir, "one")
	if left, _ := os.ReadDir(Dir(dir)); len(left) != 0 {
		t.Errorf("%v", left)
	}
}
