package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Prune removes the snapshots that keep does not want, and the content that no
// other snapshot has. It spares those taken within the last hour, whose run
// may not be recorded yet, and does nothing while another process uses the
// store: the next Prune will do.
func (s *Store) Prune(keep func(id string) bool) error {
	if _, err := os.Stat(s.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := openLock(s.lockFile(), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("prune the code store: %w", err)
	}
	defer lock.Close()
	sweep(filepath.Join(s.Dir, "tmp"), "take-")
	used, err := s.pruneManifests(keep)
	if err == nil {
		err = errors.Join(s.pruneObjects(used), s.prunePacks(used), s.pruneSeen())
	}
	if err != nil {
		return fmt.Errorf("prune the code store: %w", err)
	}
	return nil
}

// pruneManifests returns the content of the snapshots that stay.
func (s *Store) pruneManifests(keep func(id string) bool) (map[digest]bool, error) {
	used := map[digest]bool{}
	list, err := readDir(filepath.Join(s.Dir, "manifests"))
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		info, err := d.Info()
		if err != nil {
			return nil, err
		}
		id := d.Name()
		if time.Since(info.ModTime()) > settled && !keep(id) {
			if err := os.Remove(s.manifest(id)); err != nil {
				return nil, err
			}
			s.reached(manifestRemoved)
			continue
		}
		entries, err := s.read(id)
		if err != nil && s.Has(id) {
			return nil, err // its content is unknown, so none may go
		}
		for _, e := range entries {
			if e.isFile() {
				used[parseSum(e.Sum)] = true
			}
		}
	}
	return used, nil
}

func (s *Store) pruneObjects(used map[digest]bool) error {
	dirs, err := readDir(filepath.Join(s.Dir, "objects"))
	if err != nil {
		return err
	}
	for _, d := range dirs {
		list, err := readDir(filepath.Join(s.Dir, "objects", d.Name()))
		if err != nil {
			return err
		}
		for _, o := range list {
			if used[parseSum(d.Name()+o.Name())] {
				continue
			}
			if err := os.Remove(filepath.Join(s.Dir, "objects", d.Name(), o.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// readDir lists a folder that need not exist.
func readDir(name string) ([]fs.DirEntry, error) {
	list, err := os.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, err
}
