package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func newStore(t *testing.T) *Store { return &Store{Dir: filepath.Join(t.TempDir(), "code")} }

func take(t *testing.T, s *Store, root string) Snapshot {
	t.Helper()
	snap, err := s.Take(context.Background(), root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func extract(t *testing.T, s *Store, id string) string {
	t.Helper()
	dest := filepath.Join(t.TempDir(), "copy")
	if err := s.Extract(context.Background(), id, dest); err != nil {
		t.Fatal(err)
	}
	return dest
}

// listing describes a folder: path, mode, and content or target.
func listing(t *testing.T, root string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == root {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := []byte{}
		if d.Type().IsRegular() {
			text, err = os.ReadFile(p)
		}
		if d.Type() == fs.ModeSymlink {
			var to string
			to, err = os.Readlink(p)
			text = []byte(to)
		}
		list = append(list, rel+" "+info.Mode().String()+" "+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// objects are the files that the store holds content in.
func objects(t *testing.T, s *Store) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(s.Dir, "objects", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// sample makes a folder with one of each thing.
func sample(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "train.py", "print(1)\n")
	write(t, dir, "lib/a/b.py", "b\n")
	write(t, dir, "lib/same.py", "b\n")
	write(t, dir, "run.sh", "#!/bin/sh\n")
	write(t, dir, "empty.txt", "")
	write(t, dir, "ünï <&> \"name\"\n", "odd\n")
	chmod(t, filepath.Join(dir, "run.sh"), 0o755)
	write(t, dir, "big.bin", strings.Repeat("0123456789abcdef", 100_000))
	link(t, dir, "lib/latest", "../train.py")
	link(t, dir, "nowhere", "lib/missing")
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func chmod(t *testing.T, name string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, dir, name, target string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func TestRoundTrip(t *testing.T) {
	s, dir := newStore(t), sample(t)
	snap := take(t, s, dir)
	if snap.Files != 7 || snap.Size != 1_600_000+9+2+2+10+4 {
		t.Errorf("snapshot has %d files and %d bytes", snap.Files, snap.Size)
	}
	if !s.Has(snap.ID) || len(snap.Short()) != 6 {
		t.Errorf("the store does not have %q", snap.ID)
	}
	copied := extract(t, s, snap.ID)
	if got, want := listing(t, copied), listing(t, dir); !slices.Equal(got, want) {
		t.Errorf("copy differs\n got %.200q\nwant %.200q", got, want)
	}
	if again := take(t, s, copied); again.ID != snap.ID {
		t.Errorf("the copy's id is %s, want %s", again.ID, snap.ID)
	}
}

func TestTheCopyIsPrivate(t *testing.T) {
	s, dir := newStore(t), sample(t)
	snap := take(t, s, dir)
	copied := extract(t, s, snap.ID)
	write(t, copied, "train.py", "changed")
	write(t, copied, "big.bin", "changed")
	again := extract(t, s, snap.ID)
	if got, want := listing(t, again), listing(t, dir); !slices.Equal(got, want) {
		t.Error("a change to one copy shows in the next")
	}
}

func TestIDDependsOnContentOnly(t *testing.T) {
	s, dir := newStore(t), sample(t)
	first := take(t, s, dir)
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "train.py"), past, past); err != nil {
		t.Fatal(err)
	}
	chmod(t, filepath.Join(dir, "train.py"), 0o600)
	if got := take(t, s, dir); got.ID != first.ID {
		t.Error("times and the rights of others change the id")
	}
	chmod(t, filepath.Join(dir, "train.py"), 0o700)
	executable := take(t, s, dir)
	write(t, dir, "train.py", "print(2)\n")
	changed := take(t, s, dir)
	if executable.ID == first.ID || changed.ID == executable.ID {
		t.Error("a change does not change the id")
	}
}

func TestUnchangedContentIsNotWrittenAgain(t *testing.T) {
	s, dir := newStore(t), sample(t)
	take(t, s, dir)
	inodes := func() map[string]uint64 {
		m := map[string]uint64{}
		for _, o := range objects(t, s) {
			info, err := os.Stat(o)
			if err != nil {
				t.Fatal(err)
			}
			m[o] = info.Sys().(*syscall.Stat_t).Ino
		}
		return m
	}
	before := inodes()
	write(t, dir, "new.py", "new\n")
	take(t, s, dir)
	after := inodes()
	if len(after) != len(before)+1 {
		t.Errorf("%d objects became %d, want one more", len(before), len(after))
	}
	for o, ino := range before {
		if after[o] != ino {
			t.Errorf("%s was written again", o)
		}
	}
}

func TestWhatStaysOut(t *testing.T) {
	s, dir := newStore(t), t.TempDir()
	for _, p := range []string{"keep.py", ".git/config", "sub/.git", ".hg/x", "sub/.svn/y", "data/x.rec", "sub/x.pyc", "state/runs/x", "model.params"} {
		write(t, dir, p, p)
	}
	write(t, dir, gitIgnore, "*.pyc\n*.params\n")
	write(t, dir, musterIgnore, "data/\n!model.params\n")
	snap, err := s.Take(context.Background(), dir, Options{Skip: []string{filepath.Join(dir, "state")}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range listing(t, extract(t, s, snap.ID)) {
		got = append(got, strings.Fields(l)[0])
	}
	want := []string{".gitignore", ".musterignore", "keep.py", "model.params", "sub"}
	if !slices.Equal(got, want) {
		t.Errorf("the snapshot has %q, want %q", got, want)
	}
}

func TestAStoreInsideTheFolderStaysOut(t *testing.T) {
	dir := sample(t)
	s := &Store{Dir: filepath.Join(dir, "lib", "code")}
	if a, b := take(t, s, dir), take(t, s, dir); a.ID != b.ID {
		t.Error("the store became part of its own snapshot")
	}
}

func TestTheRootMayBeALink(t *testing.T) {
	s, dir := newStore(t), sample(t)
	to := t.TempDir()
	link(t, to, "here", dir)
	if a, b := take(t, s, dir), take(t, s, filepath.Join(to, "here")); a.ID != b.ID {
		t.Error("a linked root is another snapshot")
	}
}

func TestLargeFilesAreReported(t *testing.T) {
	s, dir := newStore(t), t.TempDir()
	write(t, dir, "a", "12345")
	write(t, dir, "b", "123456")
	write(t, dir, "c", "1234")
	snap, err := s.Take(context.Background(), dir, Options{LargeOver: 4})
	want := []LargeFile{{"b", 6}, {"a", 5}}
	if err != nil || !slices.Equal(snap.Large, want) {
		t.Errorf("large files are %v (%v), want %v", snap.Large, err, want)
	}
}

func TestCancelled(t *testing.T) {
	s, dir := newStore(t), sample(t)
	snap := take(t, s, dir)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Take(ctx, dir, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Take says %v", err)
	}
	dest := filepath.Join(t.TempDir(), "copy")
	if err := s.Extract(ctx, snap.ID, dest); !errors.Is(err, context.Canceled) {
		t.Errorf("Extract says %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(dest)); len(left) > 0 {
		t.Errorf("Extract left %v behind", left)
	}
}
