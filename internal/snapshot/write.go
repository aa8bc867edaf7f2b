package snapshot

import (
	"context"
	"crypto/sha256"
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
	"time"
)

const (
	// workers read and hash at the same time.
	workers = 2
	// small files are read once, into memory, and packed; others twice, the
	// second time only when their content is new, into objects of their own.
	small = 256 << 10
	// tries is how often a file that changes under us is read.
	tries = 3
)

// errChanged says that a file was written to while it was read.
var errChanged = errors.New("changed while it was read")

// A writer adds to a store. It shares the store's lock, so that nothing is
// pruned under it.
type writer struct {
	*Store
	lock  *os.File
	tmp   *tempDir
	n     atomic.Int64
	packs *packs
	loose [256]bool // the first bytes of the objects' names when it began
	fresh *packer
}

func (s *Store) writer() (*writer, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := openLock(s.lockFile(), syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	w := &writer{Store: s, lock: lock}
	if err := w.begin(); err != nil {
		lock.Close()
		return nil, err
	}
	return w, nil
}

func (w *writer) begin() (err error) {
	if w.packs, err = w.Store.packs(); err != nil {
		return err
	}
	dirs, err := readDir(filepath.Join(w.Dir, "objects"))
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if first, err := strconv.ParseUint(d.Name(), 16, 8); err == nil {
			w.loose[first] = true
		}
	}
	w.fresh = newPacker(w)
	w.tmp, err = newTempDir(filepath.Join(w.Dir, "tmp"), "take-")
	return err
}

func (w *writer) close() {
	w.fresh.close()
	w.packs.close()
	w.tmp.remove()
	w.lock.Close()
}

// addAll stores the content of the tree's files, fills in their sums, and
// returns what need not be read again while it stays as it is.
func (w *writer) addAll(ctx context.Context, t *tree, was seen) (seen, error) {
	buffers := sync.Pool{New: func() any { return new(buffer) }}
	began := time.Now()
	sums := make([]digest, len(t.files))
	err := each(ctx, len(t.files), func(ctx context.Context, i int) (err error) {
		e := &t.entries[t.files[i]]
		if sum, ok := was[t.stamps[i]]; ok && w.stored(sum, e.Size) {
			e.Sum, sums[i] = sum.String(), sum
			return nil
		}
		buf := buffers.Get().(*buffer)
		defer buffers.Put(buf)
		err = errChanged
		for n := 0; n < tries && err == errChanged; n++ {
			sums[i], t.stamps[i], err = w.add(ctx, t.name(e.Path), e, buf)
		}
		if err != nil {
			return w.explain(ctx, t, e, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := w.fresh.finish(); err != nil {
		return nil, fmt.Errorf("store the code: %w", err)
	}
	return seenIn(t, sums, began), nil
}

// explain turns the error of one file into one for its owner.
func (w *writer) explain(ctx context.Context, t *tree, e *entry, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, new(*storeError)):
		return fmt.Errorf("store %s: %w", t.name(e.Path), err)
	case err == errChanged, errors.Is(err, fs.ErrNotExist):
		return &Error{Path: t.name(e.Path), Text: errChanged.Error(),
			Hint: "try again when nothing writes to it, or keep it out with a line in " + t.name(musterIgnore)}
	}
	return t.unreadable(e.Path, err)
}

// A storeError is one of the store, not of the file that was read.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// add stores one file, unless it changes meanwhile.
func (w *writer) add(ctx context.Context, name string, e *entry, buf *buffer) (sum digest, _ stamp, err error) {
	// A file that became a link or a pipe since the walk must not lead or hold us.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return sum, stamp{}, errChanged
	}
	if err != nil {
		return sum, stamp{}, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return sum, stamp{}, err
	}
	if !before.Mode().IsRegular() {
		return sum, stamp{}, errChanged
	}
	size := before.Size()
	if sum, err = w.read(ctx, f, size, buf); err != nil {
		return sum, stamp{}, err
	}
	after, err := f.Stat()
	if err != nil {
		return sum, stamp{}, err
	}
	if stampOf(after) != stampOf(before) {
		return sum, stamp{}, errChanged
	}
	e.Sum, e.Size, e.Exec = sum.String(), size, before.Mode()&0o100 != 0
	if size <= small && !w.stored(sum, size) {
		err = asStoreError(w.fresh.add(sum, buf[:size]))
	}
	return sum, stampOf(before), err
}

// A buffer holds a small file, and shows when it has become longer.
type buffer [small + 1]byte

// read returns the sum of the size bytes of f. It stores those of a large file
// and leaves those of a small one in buf.
func (w *writer) read(ctx context.Context, f *os.File, size int64, buf *buffer) (digest, error) {
	if size > small {
		return w.large(ctx, f, size)
	}
	for n := int64(0); ; {
		got, err := f.Read(buf[n : size+1])
		n += int64(got)
		switch {
		case n > size, err == io.EOF && n < size:
			return digest{}, errChanged
		case n == size && (err == nil || err == io.EOF):
			return sha256.Sum256(buf[:size]), nil
		case err != nil:
			return digest{}, err
		}
	}
}

func (w *writer) large(ctx context.Context, f *os.File, size int64) (digest, error) {
	sum, err := w.pass(ctx, io.Discard, f, size)
	if err != nil || w.stored(sum, size) {
		return sum, err
	}
	tmp, err := os.OpenFile(w.tmpName(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return sum, asStoreError(err)
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	again, err := w.pass(ctx, tmp, f, size)
	if err != nil {
		return sum, err
	}
	if again != sum {
		return sum, errChanged
	}
	if err := tmp.Close(); err != nil {
		return sum, asStoreError(err)
	}
	err = w.move(tmp.Name(), w.object(sum.String()))
	w.reached(objectNamed)
	return sum, asStoreError(err)
}

// pass reads f from its start, copies it to dst and returns its sum.
func (w *writer) pass(ctx context.Context, dst io.Writer, f *os.File, size int64) (digest, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return digest{}, err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, storeWriter{dst}), io.LimitReader(ctxReader{ctx, f}, size+1))
	if err == nil && n != size {
		err = errChanged
	}
	return digest(h.Sum(nil)), err
}

// stored reports whether the store has the content. An object of another size
// was cut short by a power cut and is written again.
func (w *writer) stored(sum digest, size int64) bool {
	if size <= small {
		if _, r, ok := w.packs.find(sum); ok {
			return int64(r.size) == size
		}
		if !w.loose[sum[0]] {
			return false
		}
	}
	info, err := os.Lstat(w.object(sum.String()))
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
