//go:build linux

package control_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/control"
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/engine/enginetest"
	"muster.dev/muster/internal/engine/local"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/run/servicetest"
	"muster.dev/muster/internal/store"
	"muster.dev/muster/internal/store/memory"
	"muster.dev/muster/internal/store/sqlite"
)

func newEngine() engine.Engine { return local.New(local.Config{Exe: enginetest.Binary("muster")}) }

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m, newEngine)) }

func TestService(t *testing.T) {
	for _, c := range []struct {
		name     string
		open     func(t *testing.T, dir string) store.Store
		attached bool
	}{
		{"memory", func(*testing.T, string) store.Store { return memory.New() }, true},
		{"sqlite", openSQLite, true},
		{"sqlite, detached", openSQLite, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			servicetest.Run(t, servicetest.Options{Attached: c.attached, New: func(t *testing.T) run.Service { return newPlane(t, c.open) }})
		})
	}
}

func openSQLite(t *testing.T, dir string) store.Store {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(dir, "muster.db"), sqlite.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newPlane(t *testing.T, open func(*testing.T, string) store.Store) *control.Plane {
	dir := t.TempDir()
	// Owners in processes of their own may still put things away at the end.
	t.Cleanup(func() { await(t, "the last owner", func() bool { return len(processes(dir)) == 0 }) })
	return control.New(control.Config{StateDir: dir, Store: open(t, dir), Engine: newEngine(), Exe: enginetest.Binary("muster")})
}

// processes are those whose command line has all of some words.
func processes(words ...string) map[string]string {
	found := map[string]string{}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
next:
	for _, name := range lines {
		text, _ := os.ReadFile(name)
		for _, w := range words {
			if !strings.Contains(string(text), w) {
				continue next
			}
		}
		found[filepath.Base(filepath.Dir(name))] = strings.ReplaceAll(string(text), "\x00", " ")
	}
	return found
}

// await polls for what nobody tells us of.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("waited for %s in vain", what)
			return
		}
	}
}
