package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
)

const (
	// workers read and hash at the same time.
	workers = 2
	// small files are read once, into memory; others twice, the second time
	// only when their content is new.
	small = 1 << 20
	// tries is how often a file that changes under us is read.
	tries = 3
)

// errChanged says that a file was written to while it was read.
var errChanged = errors.New("changed while it was read")

// A writer adds to a store. It shares the store's lock, so that nothing is
// pruned under it.
type writer struct {
	*Store
	lock *os.File
	tmp  *tempDir
	n    atomic.Int64
}

func (s *Store) writer() (*writer, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := openLock(s.lockFile(), syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	tmp, err := newTempDir(filepath.Join(s.Dir, "tmp"), "take-")
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &writer{Store: s, lock: lock, tmp: tmp}, nil
}

func (w *writer) close() {
	w.tmp.remove()
	w.lock.Close()
}

// addAll stores the content of the tree's files and fills in their sums.
func (w *writer) addAll(ctx context.Context, t *tree) error {
	buffers := sync.Pool{New: func() any { return newBuffer() }}
	return each(ctx, len(t.files), func(ctx context.Context, i int) error {
		e := &t.entries[t.files[i]]
		buf := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(buf)
		err := errChanged
		for n := 0; n < tries && err == errChanged; n++ {
			err = w.add(ctx, t.name(e.Path), e, buf)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, new(*storeError)):
			return fmt.Errorf("store %s: %w", t.name(e.Path), err)
		case err == errChanged, errors.Is(err, fs.ErrNotExist):
			return &Error{Path: t.name(e.Path), Text: errChanged.Error(),
				Hint: "try again when nothing writes to it, or keep it out with a line in " + t.name(musterIgnore)}
		case err != nil:
			return t.unreadable(e.Path, err)
		}
		return nil
	})
}

// A storeError is one of the store, not of the file that was read.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// add stores one file, unless it changes meanwhile.
func (w *writer) add(ctx context.Context, name string, e *entry, buf *bytes.Buffer) error {
	// A file that became a link or a pipe since the walk must not lead or hold us.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return errChanged
	}
	if err != nil {
		return err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return err
	}
	if !before.Mode().IsRegular() {
		return errChanged
	}
	sum, err := w.content(ctx, f, before.Size(), buf)
	if err != nil {
		return err
	}
	after, err := f.Stat()
	if err != nil {
		return err
	}
	if after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		return errChanged
	}
	e.Sum, e.Size, e.Exec = sum, before.Size(), before.Mode()&0o100 != 0
	return nil
}

// content stores the size bytes of f and returns their sum.
func (w *writer) content(ctx context.Context, f *os.File, size int64, buf *bytes.Buffer) (string, error) {
	if size > small {
		return w.large(ctx, f, size)
	}
	buf.Reset()
	n, err := buf.ReadFrom(io.LimitReader(f, size+1))
	if err != nil {
		return "", err
	}
	if n != size {
		return "", errChanged
	}
	sum := sum(buf.Bytes())
	if w.stored(sum, size) {
		return sum, nil
	}
	return sum, asStoreError(w.put(w.object(sum), buf.Bytes()))
}

func (w *writer) large(ctx context.Context, f *os.File, size int64) (string, error) {
	sum, err := w.pass(ctx, io.Discard, f, size)
	if err != nil || w.stored(sum, size) {
		return sum, err
	}
	tmp, err := os.OpenFile(w.tmpName(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return "", asStoreError(err)
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	again, err := w.pass(ctx, tmp, f, size)
	if err != nil {
		return "", err
	}
	if again != sum {
		return "", errChanged
	}
	if err := tmp.Close(); err != nil {
		return "", asStoreError(err)
	}
	return sum, asStoreError(w.move(tmp.Name(), w.object(sum)))
}

// pass reads f from its start, copies it to dst and returns its sum.
func (w *writer) pass(ctx context.Context, dst io.Writer, f *os.File, size int64) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, storeWriter{dst}), io.LimitReader(ctxReader{ctx, f}, size+1))
	if err == nil && n != size {
		err = errChanged
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// stored reports whether the object is there. One of another size was cut
// short by a power cut and is written again.
func (w *writer) stored(sum string, size int64) bool {
	info, err := os.Lstat(w.object(sum))
	return err == nil && info.Size() == size
}

// put writes a file that appears complete or not at all.
func (w *writer) put(name string, content []byte) error {
	tmp := w.tmpName()
	if err := os.WriteFile(tmp, content, 0o400); err != nil {
		return err
	}
	return w.move(tmp, name)
}

func (w *writer) move(tmp, name string) error {
	err := os.Rename(tmp, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.Rename(tmp, name)
}

func (w *writer) tmpName() string {
	return filepath.Join(w.tmp.path, strconv.FormatInt(w.n.Add(1), 10))
}

func asStoreError(err error) error {
	if err == nil {
		return nil
	}
	return &storeError{err}
}

// A storeWriter marks the errors of writing, so that they are not taken for
// errors of the file that is read.
type storeWriter struct{ w io.Writer }

func (s storeWriter) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	return n, asStoreError(err)
}

func newBuffer() *bytes.Buffer { return bytes.NewBuffer(make([]byte, 0, 64<<10)) }
