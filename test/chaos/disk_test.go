//go:build linux

package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/test/suite"
)

// diskBed is a bed on a small disk of its own.
func diskBed(t *testing.T, megabytes int) *bed {
	t.Helper()
	dir, reason := t.TempDir(), ""
	if err := unix.Mount("muster-chaos", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		reason = fmt.Sprintf("a tmpfs cannot be mounted: %v", err)
	}
	suite.Require(t, "chaos-disk", reason)
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	b, err := newBed(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.end()
		_ = b.close()
	})
	return b
}

// fill takes all the room that is left.
func (b *bed) fill() error {
	f, err := os.Create(filepath.Join(b.dir, "filler"))
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, 64<<10)
	for size := len(block); size > 0; {
		n, err := f.Write(block[:size])
		if err != nil && n == 0 {
			size /= 2
		}
	}
	return nil
}

func (b *bed) free() error { return os.Remove(filepath.Join(b.dir, "filler")) }

// expect runs a command that must neither hang nor end with another code, and
// must say all of texts.
func (b *bed) expect(t *testing.T, code int, args []string, texts ...string) {
	t.Helper()
	got, out, err := b.muster(args...)
	if err != nil {
		t.Errorf("muster %v: %v", args, err)
		return
	}
	if got != code {
		t.Errorf("muster %v: exit %d, want %d: %s", args, got, code, out)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("muster %v does not say %q: %s", args, text, out)
		}
	}
}

// TestFullDisk fills the disk under a run: it fails with that reason, the
// verdict is stored, and commands work, also before there is room again.
func TestFullDisk(t *testing.T) {
	for _, detached := range []bool{true, false} {
		t.Run(fmt.Sprintf("detached=%t", detached), func(t *testing.T) {
			b := diskBed(t, 24)
			p := plainPlan("full")
			p.Detached, p.Lines, p.Rate, p.Pieces, p.Budget = detached, 1, 4, 400, 2
			r := &round{bed: b, plan: p}
			r.during = func() {
				r.awaitRunning()
				if err := b.fill(); err != nil {
					t.Error(err)
				}
			}
			h := r.mustRun(t)
			rec := h.Reads[0]
			if rec.Phase != run.Failed || !strings.Contains(rec.Reason, "full") || rec.Attempt != 1 {
				t.Errorf("%s in attempt %d (%s), want Failed because the disk is full\n%s", rec.Phase, rec.Attempt, rec.Reason, r.story())
			}
			for _, left := range h.Left {
				t.Error(left)
			}
			b.expect(t, 0, []string{"ps"}, rec.ID)
			b.expect(t, 0, []string{"why", rec.ID}, "full")
			b.expect(t, 125, []string{"run", "--", "true"}, "state directory")
			if err := b.free(); err != nil {
				t.Fatal(err)
			}
			b.expect(t, 0, []string{"run", "--", "true"})
			b.expect(t, 0, []string{"rm", rec.ID})
		})
	}
}

// TestTaskFillsDisk has the tasks themselves write more than there is room for.
func TestTaskFillsDisk(t *testing.T) {
	b := diskBed(t, 24)
	b.expect(t, 0, []string{"run", "-d", "-n", "2", "--name", "greedy", "--framework", "plain", "--", trainerExe, "sleep=200ms", "bytes=64M", "sleep=10s"})
	b.expect(t, run.ExitRefused, []string{"wait", "greedy"})
	rec, _, err := b.read("greedy")
	if err != nil || rec.Phase != run.Failed || rec.Verdict == nil || !strings.Contains(rec.Reason, "full") {
		t.Errorf("%s (%s), %v: want Failed because the disk is full, with a verdict", rec.Phase, rec.Reason, err)
	}
	b.expect(t, 0, []string{"rm", "greedy"})
	b.expect(t, 0, []string{"run", "--", "true"})
}

// TestReadOnlyState makes the state read-only: every command says so, or works,
// and none hangs.
func TestReadOnlyState(t *testing.T) {
	b := diskBed(t, 24)
	b.expect(t, 0, []string{"run", "--name", "before", "--", "true"})
	if err := b.close(); err != nil {
		t.Fatal(err)
	}
	remount := func(flags uintptr) {
		if err := unix.Mount("", b.dir, "", unix.MS_REMOUNT|flags, "size=24m"); err != nil {
			t.Fatal(err)
		}
	}
	remount(unix.MS_RDONLY)
	b.expect(t, 125, []string{"run", "--", "true"}, b.state(), "MUSTER_STATE_DIR")
	b.expect(t, 125, []string{"run", "-d", "--", "true"}, b.state(), "MUSTER_STATE_DIR")
	for _, args := range [][]string{{"ps"}, {"get", "before"}, {"logs", "before"}, {"why", "before"}, {"rm", "before"}, {"stop", "before"}} {
		code, out, err := b.muster(args...)
		if err != nil {
			t.Error(err)
		}
		if code != 0 && !strings.Contains(out, b.state()) {
			t.Errorf("muster %v: exit %d, and it does not name the state directory: %s", args, code, out)
		}
	}
	remount(0)
	b.expect(t, 0, []string{"run", "--", "true"})
	b.expect(t, 0, []string{"rm", "before"})
}
