//go:build linux

package control

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/run"
)

func TestCheckpointFaults(t *testing.T) {
	state, own := t.TempDir(), t.TempDir()
	write(t, filepath.Join(own, "file"), "")
	for _, c := range []struct {
		name, dir string
		want      string // part of the problem; "" for none
	}{
		{"none", "", ""},
		{"a folder", own, ""},
		{"one that is not there yet", filepath.Join(own, "a", "b"), ""},
		{"a name of a volume", "data/a", "--mount NAME=DIR"},
		{"a file", filepath.Join(own, "file"), "is no folder"},
		{"below a file", filepath.Join(own, "file", "a"), "not a directory"},
		{"in the state", filepath.Join(state, "runs", "a"), "is in the state directory"},
		{"the state", state, "is in the state directory"},
	} {
		text := ""
		for _, p := range checkpointFaults(&job.Spec{Checkpoint: c.dir}, state) {
			text += p.Field + ": " + p.Text + "; " + p.Hint + "\n"
		}
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}

// endedWith makes a run that has ended and left a checkpoint where its job says.
func endedWith(t *testing.T, p *Plane, dir string) {
	t.Helper()
	old := run.Run{ID: "old-1111", Phase: run.Succeeded, Created: time.Now(), Spec: job.Spec{Name: "old", Checkpoint: dir}}
	write(t, filepath.Join(launch.Checkpoints(&old.Spec, p.runDir(old.ID)), "epoch"), "7")
	if err := p.config.Store.Create(t.Context(), old); err != nil {
		t.Fatal(err)
	}
}

func TestInheritBetweenFolders(t *testing.T) {
	for name, same := range map[string]bool{"from a run's folder": false, "in the same folder": true} {
		t.Run(name, func(t *testing.T) {
			p, r := stage(t)
			r.Spec.Checkpoint = filepath.Join(t.TempDir(), "mine")
			if err := makeCheckpoint(&r.Spec); err != nil {
				t.Fatal(err)
			}
			if same {
				endedWith(t, p, r.Spec.Checkpoint)
			} else {
				endedWith(t, p, "")
			}
			if err := p.inherit(t.Context(), r, "old-1111"); err != nil {
				t.Fatal(err)
			}
			if got := read(t, filepath.Join(r.Spec.Checkpoint, "epoch")); got != "7" {
				t.Errorf("it is %q", got)
			}
			if err := p.inherit(t.Context(), r, "old-1111"); (err == nil) != same {
				t.Errorf("into a folder that has something in it: %v", err)
			}
		})
	}
}

func TestNoteShared(t *testing.T) {
	p, r := stage(t)
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	r.Spec.Checkpoint = dir
	for id, at := range map[string]string{"same-1111": dir, "link-1111": link, "other-1111": t.TempDir(), "none-1111": ""} {
		if err := p.config.Store.Create(t.Context(), run.Run{ID: id, Phase: run.Running, Created: time.Now(), Spec: job.Spec{Name: id[:4], Checkpoint: at}}); err != nil {
			t.Fatal(err)
		}
	}
	endedWith(t, p, dir)
	if err := p.noteShared(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(r.Notes, "\n")
	if len(r.Notes) != 2 || !strings.Contains(notes, "same-1111 has") || !strings.Contains(notes, "link-1111 has") {
		t.Errorf("%s", notes)
	}
}
