package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The disk is full at another point each time: in a pack, in its index, in the
// manifest, in the list of what was seen.
func TestFullDisk(t *testing.T) {
	disk, dir := t.TempDir(), many(t, 200)
	if err := syscall.Mount("snapshot-test", disk, "tmpfs", 0, "size=4k"); err != nil {
		t.Skipf("a tmpfs cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	resize := func(size string) {
		t.Helper()
		if err := syscall.Mount("snapshot-test", disk, "tmpfs", syscall.MS_REMOUNT, "size="+size); err != nil {
			t.Fatal(err)
		}
	}
	s, refused, kib := &Store{Dir: filepath.Join(disk, "code")}, 0, 4
	for ; ; kib += 8 {
		if err := os.RemoveAll(s.Dir); err != nil {
			t.Fatal(err)
		}
		resize(fmt.Sprintf("%dk", kib))
		snap, err := s.Take(context.Background(), dir, Options{})
		if err == nil {
			same(t, s, snap, dir)
			break
		}
		refused++
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("with %d KiB Take says %v", kib, err)
		}
		empty(t, filepath.Join(s.Dir, "tmp"))
		if list, _ := os.ReadDir(filepath.Join(s.Dir, "manifests")); len(list) > 0 {
			t.Errorf("with %d KiB there is a manifest", kib)
		}
		whole(t, s)
		resize("8m")
		same(t, s, take(t, s, dir), dir)
	}
	if refused < 5 {
		t.Errorf("%d KiB were enough", kib)
	}
}

// Prune frees what it can without room for what it would rather write anew.
func TestPruneOnAFullDisk(t *testing.T) {
	disk, dir := t.TempDir(), many(t, 200)
	if err := syscall.Mount("snapshot-test", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a tmpfs cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := &Store{Dir: filepath.Join(disk, "code")}
	old := take(t, s, dir)
	for i := range 120 {
		if err := os.Remove(filepath.Join(dir, fmt.Sprintf("d%d", i%50), fmt.Sprintf("f%d.py", i))); err != nil {
			t.Fatal(err)
		}
	}
	snap := take(t, s, dir)
	age(t, s, old)
	f, err := os.Create(filepath.Join(disk, "other"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()
	prune(t, s)
	whole(t, s)
	same(t, s, snap, dir)
	if n := packed(t, s); n != 200 {
		t.Errorf("the packs hold %d files: there was room to write", n)
	}
	if err := os.Remove(f.Name()); err != nil {
		t.Fatal(err)
	}
	prune(t, s)
	same(t, s, snap, dir)
	if n := packed(t, s); n != 80 {
		t.Errorf("later the packs hold %d files, want 80", n)
	}
}
