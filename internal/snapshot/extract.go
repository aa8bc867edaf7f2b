package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Extract makes a private, writable copy of a snapshot. The folder dest must
// not exist; it appears complete or not at all. Content that does not match
// its name is an error and is dropped from the store.
func (s *Store) Extract(ctx context.Context, id, dest string) error {
	if _, err := os.Lstat(dest); err == nil {
		return &Error{Path: dest, Text: "is already there", Err: fs.ErrExist}
	}
	entries, lock, err := s.open(id)
	if err != nil {
		return err
	}
	defer lock.Close()
	tmp, err := newTempDir(filepath.Dir(dest), ".snapshot-")
	if err != nil {
		return fmt.Errorf("copy the code: %w", err)
	}
	defer tmp.remove()
	if err := s.fill(ctx, tmp.path, entries); err != nil {
		return err
	}
	if err := os.Chmod(tmp.path, 0o755); err != nil {
		return fmt.Errorf("copy the code: %w", err)
	}
	if err := os.Rename(tmp.path, dest); err != nil {
		return fmt.Errorf("copy the code: %w", err)
	}
	return nil
}

// open reads a manifest and keeps the store from being pruned until the lock
// is closed.
func (s *Store) open(id string) ([]entry, *os.File, error) {
	if !s.Has(id) {
		return nil, nil, gone(id, "is not in the store", fs.ErrNotExist)
	}
	lock, err := openLock(s.lockFile(), syscall.LOCK_SH)
	if err != nil {
		return nil, nil, fmt.Errorf("open the code store: %w", err)
	}
	entries, err := s.read(id)
	if err != nil {
		lock.Close()
		return nil, nil, err
	}
	return entries, lock, nil
}

// read returns the entries of a manifest, and drops one that is damaged.
func (s *Store) read(id string) ([]entry, error) {
	text, err := os.ReadFile(s.manifest(id))
	if err != nil {
		return nil, gone(id, "cannot be read", bare(err))
	}
	if sum(text) != id {
		os.Remove(s.manifest(id))
		return nil, gone(id, "is damaged", nil)
	}
	entries, err := decode(text)
	if err != nil {
		return nil, gone(id, "cannot be used", err)
	}
	return entries, nil
}

func gone(id, text string, err error) error {
	return &Error{Path: "code @" + Snapshot{ID: id}.Short(), Text: text, Err: err,
		Hint: "submit the job again, which stores its code anew"}
}

// fill writes the entries into a new folder. Links come last, so that no file
// is ever written through one; os.Root makes sure of it.
func (s *Store) fill(ctx context.Context, dir string, entries []entry) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("copy the code: %w", err)
	}
	defer root.Close()
	if err := makeDirs(root, entries); err != nil {
		return fmt.Errorf("copy the code: %w", err)
	}
	if err := s.copyAll(ctx, root, entries); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Link == "" {
			continue
		}
		if err := root.Symlink(e.Link, e.Path); err != nil {
			return fmt.Errorf("copy the code: %w", err)
		}
	}
	return nil
}

func makeDirs(root *os.Root, entries []entry) error {
	last := ""
	for _, e := range entries {
		dir := parent(e.Path)
		if !e.isFile() && e.Link == "" {
			dir = e.Path
		}
		if dir == "" || dir == last {
			continue
		}
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		last = dir
	}
	return nil
}

func damaged(e entry) error {
	return &Error{Path: e.Path, Text: "its stored copy is damaged",
		Hint: "submit the job again, which stores its code anew"}
}
