//go:build linux

package taskhost

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

func instance(index, attempt int, s engine.State) engine.Instance {
	return engine.Instance{Instance: job.Instance{Task: job.Task{Role: "worker", Index: index}, Attempt: attempt, Try: 1}, State: s}
}

func states(all []engine.Instance) string {
	text := ""
	for _, i := range all {
		text += fmt.Sprintf("%s %s;", i.Instance, i.State)
	}
	return text
}

func TestJournal(t *testing.T) {
	starting, exited := engine.Starting, engine.Exited
	for _, c := range []struct {
		name string
		tear int    // bytes that the death of its writer cut off
		add  string // what stands behind
		want string
	}{
		{"whole", 0, "", "worker-0/1.1 exited;worker-1/1.1 exited;"},
		{"a torn end", 10, "", "worker-0/1.1 exited;worker-1/1.1 starting;"},
		{"nothing is left", 1 << 12, "", ""},
		{"noise", 0, "\x00\x00\xff{}\n", "worker-0/1.1 exited;worker-1/1.1 exited;"},
	} {
		dir := t.TempDir()
		j, err := openJournal(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []engine.Instance{instance(0, 1, starting), instance(1, 1, starting), instance(0, 1, exited), instance(1, 1, exited)} {
			if err := j.write(i); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, JournalName)
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, append(text[:max(0, len(text)-c.tear)], c.add...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if all, err := ReadJournal(dir); err != nil || states(all) != c.want {
			t.Errorf("%s: %s (%v), want %s", c.name, states(all), err, c.want)
		}
	}
}

// TestJournalAfterATornLine has a second host go on where the first was cut
// short: what it writes must not become part of the broken line.
func TestJournalAfterATornLine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, JournalName), []byte(`{"task":"worker-0","attem`), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.write(instance(1, 2, engine.Starting)); err != nil {
		t.Fatal(err)
	}
	if all, err := ReadJournal(dir); err != nil || states(all) != "worker-1/2.1 starting;" {
		t.Errorf("%s, %v", states(all), err)
	}
}

func TestNoJournal(t *testing.T) {
	if all, err := ReadJournal(t.TempDir()); err != nil || all != nil {
		t.Errorf("%v, %v", all, err)
	}
}
