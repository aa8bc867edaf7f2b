package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// packFiles are the packs in the store.
func packFiles(t *testing.T, s *Store) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(s.packDir(), "*"+packSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// packed counts what the packs hold.
func packed(t *testing.T, s *Store) (n int) {
	t.Helper()
	ps, err := s.packs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ps.list {
		n += p.index.len()
	}
	return n
}

// same checks that the copy of a snapshot is like the folder.
func same(t *testing.T, s *Store, snap Snapshot, dir string) {
	t.Helper()
	if got, want := listing(t, extract(t, s, snap.ID)), listing(t, dir); !slices.Equal(got, want) {
		t.Error("the copy differs")
	}
}

func TestManySmallFilesArePacked(t *testing.T) {
	s, dir := newStore(t), many(t, 100)
	write(t, dir, "copy.py", strings.Repeat("line 7\n", 50)) // that of f7.py
	write(t, dir, "large", strings.Repeat("x", small+1))
	same(t, s, take(t, s, dir), dir)
	if n, files := packed(t, s), len(packFiles(t, s)); n != 100 || files != 1 || len(objects(t, s)) != 1 {
		t.Errorf("%d files in %d packs and %d objects, want 100, 1 and 1", n, files, len(objects(t, s)))
	}
	for i := range few {
		write(t, dir, fmt.Sprint("new", i), fmt.Sprint("new", i))
	}
	same(t, s, take(t, s, dir), dir)
	if files := len(packFiles(t, s)); files != 1 || len(objects(t, s)) != 1+few {
		t.Errorf("few new files: %d packs and %d objects, want 1 and %d", files, len(objects(t, s)), 1+few)
	}
	for i := range few + 1 {
		write(t, dir, fmt.Sprint("more", i), fmt.Sprint("more", i))
	}
	same(t, s, take(t, s, dir), dir)
	if n, files := packed(t, s), len(packFiles(t, s)); n != 100+few+1 || files != 2 {
		t.Errorf("many new files: %d files in %d packs, want %d in 2", n, files, 100+few+1)
	}
}

// A store from before there were packs has everything in objects.
func TestAStoreWithoutPacks(t *testing.T) {
	s, dir := newStore(t), many(t, 100)
	snap := take(t, s, dir)
	unpack(t, s)
	same(t, s, snap, dir)
	if again := take(t, s, dir); again.ID != snap.ID || len(packFiles(t, s)) > 0 {
		t.Error("what is stored was stored again")
	}
	age(t, s, snap)
	prune(t, s)
	if n := len(objects(t, s)); n != 0 {
		t.Errorf("%d objects are left", n)
	}
}

// unpack makes objects of what the packs hold.
func unpack(t *testing.T, s *Store) {
	t.Helper()
	ps, err := s.packs()
	if err != nil {
		t.Fatal(err)
	}
	defer ps.close()
	for _, p := range ps.list {
		for i := range p.index.len() {
			r := p.index.record(i)
			text, err := ps.read(p, r, nil)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Dir(s.object(r.sum.String())), r.sum.String()[2:], string(text))
		}
	}
	if err := os.RemoveAll(s.packDir()); err != nil {
		t.Fatal(err)
	}
}

func TestTakesAtTheSameTime(t *testing.T) {
	s := newStore(t)
	dirs := []string{many(t, 200), many(t, 300), many(t, 300)}
	snaps := make([]Snapshot, len(dirs))
	errs := make([]error, len(dirs))
	var wg sync.WaitGroup
	for i, dir := range dirs {
		wg.Go(func() { snaps[i], errs[i] = s.Take(context.Background(), dir, Options{}) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i, dir := range dirs {
		same(t, s, snaps[i], dir)
	}
	prune(t, s) // what was stored twice goes
	if n := packed(t, s); n != 300 {
		t.Errorf("the packs hold %d files, want 300", n)
	}
	same(t, s, snaps[0], dirs[0])
}

func TestPruneDuringATake(t *testing.T) {
	for _, at := range []step{packBegun, packWritten, packNamed} {
		s, dir := newStore(t), many(t, 100)
		s.step = func(now step) {
			if now == at {
				prune(t, &Store{Dir: s.Dir})
			}
		}
		same(t, s, take(t, s, dir), dir)
	}
}

// spoil changes the first byte of some content in the store's only pack.
func spoil(t *testing.T, s *Store, text string) {
	t.Helper()
	name := packFiles(t, s)[0]
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	chmod(t, name, 0o600)
	if err := os.WriteFile(name, flip(b, bytes.Index(b, []byte(text))), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedContentInAPack(t *testing.T) {
	s, dir := newStore(t), many(t, 100)
	write(t, dir, "train.py", "print(1)\n")
	snap := take(t, s, dir)
	spoil(t, s, "print(1)\n")
	dest := filepath.Join(t.TempDir(), "copy")
	err := s.Extract(context.Background(), snap.ID, dest)
	var e *Error
	if !errors.As(err, &e) || e.Path != "train.py" || !strings.Contains(e.Text, "damaged") {
		t.Errorf("Extract says %v", err)
	}
	empty(t, filepath.Dir(dest))
	take(t, s, dir) // the advice works
	same(t, s, snap, dir)
	if n := len(objects(t, s)); n != 1 {
		t.Errorf("%d objects, want the damaged file only", n)
	}
	prune(t, s)
	same(t, s, snap, dir)
	whole(t, s)
	if n := packed(t, s); n != 100 {
		t.Errorf("the packs hold %d files, want 100", n)
	}
	if left, _ := filepath.Glob(filepath.Join(s.packDir(), "*"+badSuffix)); len(left) > 0 {
		t.Errorf("lists are left: %q", left)
	}
}

// What nobody has noticed yet must not get a new name as if it were good.
func TestPruneLeavesDamagedContentOut(t *testing.T) {
	s, dir := newStore(t), many(t, 100)
	old := take(t, s, dir)
	for i := range 60 {
		if err := os.Remove(filepath.Join(dir, fmt.Sprintf("d%d", i%50), fmt.Sprintf("f%d.py", i))); err != nil {
			t.Fatal(err)
		}
	}
	snap := take(t, s, dir)
	age(t, s, old)
	spoil(t, s, "line 70\n")
	prune(t, s)
	whole(t, s)
	if n := packed(t, s); n != 39 {
		t.Errorf("the packs hold %d files, want 39", n)
	}
	err := s.Extract(context.Background(), snap.ID, filepath.Join(t.TempDir(), "copy"))
	if err == nil || !strings.Contains(err.Error(), "f70.py: its stored copy is damaged") {
		t.Errorf("Extract says %v", err)
	}
	same(t, s, take(t, s, dir), dir)
}

// What a power cut may do to a pack that was not flushed.
func TestCutPack(t *testing.T) {
	for _, size := range []int64{0, 1, 1000, -1} {
		s, dir := newStore(t), many(t, 100)
		snap := take(t, s, dir)
		name := packFiles(t, s)[0]
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		chmod(t, name, 0o600)
		if err := os.Truncate(name, (size+info.Size())%info.Size()); err != nil {
			t.Fatal(err)
		}
		err = s.Extract(context.Background(), snap.ID, filepath.Join(t.TempDir(), "copy"))
		if err == nil || !strings.Contains(err.Error(), "its stored copy is damaged") {
			t.Errorf("cut to %d: Extract says %v", size, err)
		}
		same(t, s, take(t, s, dir), dir)
		prune(t, s)
		if list := packFiles(t, s); len(list) != 1 || list[0] == name {
			t.Errorf("the packs are %q, want another one", list)
		}
		same(t, s, snap, dir)
	}
}

func TestPruneRewritesAPackWhenHalfIsOfNoUse(t *testing.T) {
	for _, c := range []struct{ gone, left int }{{40, 100}, {60, 40}, {80, 0}, {100, 0}} {
		s, dir := newStore(t), many(t, 100)
		old := take(t, s, dir)
		for i := range c.gone {
			if err := os.Remove(filepath.Join(dir, fmt.Sprintf("d%d", i%50), fmt.Sprintf("f%d.py", i))); err != nil {
				t.Fatal(err)
			}
		}
		snap := take(t, s, dir)
		age(t, s, old)
		prune(t, s)
		if n := packed(t, s); n != c.left {
			t.Errorf("without %d of 100 files the packs hold %d, want %d", c.gone, n, c.left)
		}
		if c.gone < 100 {
			same(t, s, snap, dir)
		}
	}
}

// replace writes a file anew that its owner has protected.
func replace(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(name), filepath.Base(name), string(text))
}

func TestUnchangedFilesAreNotRead(t *testing.T) {
	s, dir := newStore(t), sample(t)
	if localDev(dir) == 0 {
		t.Skip("stamps of this file system are not relied on")
	}
	write(t, dir, "as long", "as run.sh\n")
	settle(t, dir)
	snap := take(t, s, dir)
	// A list that is wrong shows who relies on it.
	tree, err := walk(context.Background(), dir, Options{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	list := s.loadSeen(tree.real)
	if len(list) != snap.Files {
		t.Fatalf("%d files are listed, want %d", len(list), snap.Files)
	}
	info, err := os.Stat(filepath.Join(dir, "run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	list[stampOf(info)] = parseSum(sum([]byte("as run.sh\n")))
	replace(t, s.seenFile(tree.real), list.encode())
	if got := take(t, s, dir); got.ID == snap.ID {
		t.Error("run.sh was read again")
	}
	list[stampOf(info)] = parseSum(aSum) // content that the store does not have
	replace(t, s.seenFile(tree.real), list.encode())
	if got := take(t, s, dir); got.ID != snap.ID {
		t.Error("the list was believed although the store lacks the content")
	}
	// Same size, and the time put back.
	write(t, dir, "run.sh", "#!/bin/ba\n")
	if err := os.Chtimes(filepath.Join(dir, "run.sh"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	same(t, s, take(t, s, dir), dir)
}

func TestStampsAreTrustedWhenTheyHaveSettled(t *testing.T) {
	now := time.Unix(1000, 0)
	at := func(d time.Duration) int64 { return now.Add(d).UnixNano() }
	for _, c := range []struct {
		name string
		s    stamp
		want bool
	}{
		{"old", stamp{Mtime: at(-racy - 1), Ctime: at(-racy - 1)}, true},
		{"just written", stamp{Mtime: at(-racy), Ctime: at(-racy)}, false},
		{"an old time was set just now", stamp{Mtime: at(-time.Hour), Ctime: at(-1)}, false},
		{"from the future", stamp{Mtime: at(time.Hour), Ctime: at(-time.Hour)}, false},
	} {
		if got := c.s.settledAt(now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// What is on another device may be on a network.
func TestStampsOfOtherDevicesAreNotTrusted(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	at := old.UnixNano()
	for _, c := range []struct {
		name  string
		where uint64 // the device that can be relied on
		want  int
	}{{"the same device", 7, 1}, {"another", 8, 0}, {"unknown", 0, 0}} {
		tree := &tree{dev: c.where, stamps: []stamp{{Dev: 7, Ino: 1, Mtime: at, Ctime: at}}}
		if got := seenIn(tree, make([]digest, 1), time.Now()); len(got) != c.want {
			t.Errorf("%s: %d files are relied on, want %d", c.name, len(got), c.want)
		}
	}
	tree := &tree{stamps: []stamp{{Mtime: at, Ctime: at}}} // a system that tells nothing
	if got := seenIn(tree, make([]digest, 1), time.Now()); len(got) > 0 {
		t.Error("stamps without a device are relied on")
	}
}

func TestPruneForgetsFolders(t *testing.T) {
	s := newStore(t)
	take(t, s, sample(t))
	write(t, s.seenDir(), "old", "")
	write(t, s.seenDir(), "young", "")
	past := time.Now().Add(-2 * forgotten)
	if err := os.Chtimes(filepath.Join(s.seenDir(), "old"), past, past); err != nil {
		t.Fatal(err)
	}
	prune(t, s)
	if _, err := os.Stat(filepath.Join(s.seenDir(), "old")); err == nil {
		t.Error("the old list is still there")
	}
	if _, err := os.Stat(filepath.Join(s.seenDir(), "young")); err != nil {
		t.Error(err)
	}
}
