package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
)

// batch is how many files of a folder are copied in one go: the folder is
// opened once for them.
const batch = 64

// batches splits the files among the entries into runs that share a folder.
func batches(entries []entry) [][]entry {
	var list [][]entry
	var now []entry
	for _, e := range entries {
		if !e.isFile() {
			continue
		}
		if len(now) == batch || len(now) > 0 && parent(now[0].Path) != parent(e.Path) {
			list, now = append(list, now), nil
		}
		now = append(now, e)
	}
	if len(now) == 0 {
		return list
	}
	return append(list, now)
}

// copyAll writes the files below root, whose folders are there.
func (s *Store) copyAll(ctx context.Context, root *os.Root, entries []entry) error {
	from, err := s.packs()
	if err != nil {
		return fmt.Errorf("open the code store: %w", err)
	}
	defer from.close()
	buffers := sync.Pool{New: func() any { return new(buffer) }}
	list := batches(entries)
	return each(ctx, len(list), func(ctx context.Context, i int) error {
		dir, err := root.OpenRoot(path.Dir(list[i][0].Path))
		if err != nil {
			return fmt.Errorf("copy the code: %w", err)
		}
		defer dir.Close()
		c := copier{s, from, dir, buffers.Get().(*buffer)}
		defer buffers.Put(c.buf)
		for _, e := range list[i] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := c.copy(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// A copier writes files into one folder and checks their content on the way.
type copier struct {
	*Store
	from *packs
	dir  *os.Root
	buf  *buffer
}

func (c copier) copy(ctx context.Context, e entry) error {
	var err error
	if p, r, ok := c.from.find(parseSum(e.Sum)); ok {
		err = c.packed(p, r, e)
	} else {
		err = c.object(ctx, e)
	}
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return fmt.Errorf("copy %s: %w", e.Path, err)
}

// packed copies a file from a pack.
func (c copier) packed(p *pack, r record, e entry) error {
	text, err := c.from.read(p, r, c.buf[:0])
	if errors.Is(err, errDamagedPack) {
		p.markBad(r.sum)
		return damaged(e)
	}
	if err != nil {
		return err
	}
	dst, err := c.create(e)
	if err != nil {
		return err
	}
	_, err = dst.Write(text)
	return errors.Join(err, dst.Close())
}

// object copies a file from an object of its own.
func (c copier) object(ctx context.Context, e entry) error {
	src, err := os.Open(c.Store.object(e.Sum))
	if errors.Is(err, fs.ErrNotExist) {
		return damaged(e)
	}
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := c.create(e)
	if err != nil {
		return err
	}
	got, err := c.content(ctx, dst, src, e.Size)
	if err := errors.Join(err, dst.Close()); err != nil {
		return err
	}
	if got != e.Sum {
		os.Remove(src.Name())
		return damaged(e)
	}
	return nil
}

// create makes the file of an entry. Its mode is part of the snapshot, whatever
// the umask; looking is cheaper than setting it every time.
func (c copier) create(e entry) (*os.File, error) {
	mode := fs.FileMode(0o644)
	if e.Exec {
		mode = 0o755
	}
	f, err := c.dir.OpenFile(path.Base(e.Path), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm() != mode {
		err = f.Chmod(mode)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// content copies src and returns the sum of what it wrote. A large file shares
// its blocks with the original where the file system can do that.
func (c copier) content(ctx context.Context, dst, src *os.File, size int64) (string, error) {
	h := sha256.New()
	from, to := io.Reader(src), io.MultiWriter(h, dst)
	if size > small && clone(dst, src) {
		from, to = dst, h
	}
	_, err := io.CopyBuffer(to, ctxReader{ctx, from}, c.buf[:])
	return hex.EncodeToString(h.Sum(nil)), err
}
