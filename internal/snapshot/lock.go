package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// settled is the age at which what nobody has locked or named is taken for
// abandoned: a margin for those between two steps.
const settled = time.Hour

// openLock opens a file or folder and takes a lock on it, which the kernel
// releases when the file is closed or its process dies.
func openLock(name string, how int) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|os.O_CREATE, 0o600)
	if errors.Is(err, syscall.EISDIR) {
		f, err = os.Open(name)
	}
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return f, nil
}

// A tempDir is a folder that is locked while its maker lives.
type tempDir struct {
	path string
	lock *os.File
}

// newTempDir makes a locked folder and removes those that others have left
// behind by dying.
func newTempDir(parent, prefix string) (*tempDir, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	sweep(parent, prefix)
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	lock, err := openLock(path, syscall.LOCK_EX)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return &tempDir{path, lock}, nil
}

func (t *tempDir) remove() {
	os.RemoveAll(t.path)
	t.lock.Close()
}

// sweep removes abandoned temporary folders. What it cannot remove, the next
// one tries again.
func sweep(parent, prefix string) {
	list, _ := os.ReadDir(parent)
	for _, d := range list {
		if !d.IsDir() || !strings.HasPrefix(d.Name(), prefix) {
			continue
		}
		info, err := d.Info()
		if err != nil || time.Since(info.ModTime()) < settled {
			continue
		}
		name := filepath.Join(parent, d.Name())
		if lock, err := openLock(name, syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			os.RemoveAll(name)
			lock.Close()
		}
	}
}
