package snapshot

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// packSuffix is that of the packs in the folder of packs.
const packSuffix = ".pack"

func (s *Store) packDir() string { return filepath.Join(s.Dir, "packs") }

// packs are those of a store, at the time that they were listed.
type packs struct {
	list    []*pack
	damaged []string // files that are no whole pack

	mu   sync.Mutex
	open map[*pack]*os.File // those that were read from
}

// packs lists what the store has. Packs that are damaged hold nothing.
func (s *Store) packs() (*packs, error) {
	files, err := readDir(s.packDir())
	if err != nil {
		return nil, err
	}
	ps := &packs{open: map[*pack]*os.File{}}
	for _, d := range files {
		if !strings.HasSuffix(d.Name(), packSuffix) {
			continue
		}
		name := filepath.Join(s.packDir(), d.Name())
		p, err := openPack(name)
		switch {
		case errors.Is(err, errDamagedPack):
			ps.damaged = append(ps.damaged, name)
		case err != nil:
			return nil, err
		default:
			ps.list = append(ps.list, p)
		}
	}
	return ps, nil
}

func (ps *packs) find(sum digest) (*pack, record, bool) {
	for _, p := range ps.list {
		if r, ok := p.find(sum); ok {
			return p, r, true
		}
	}
	return nil, record{}, false
}

// read returns the content of a record, in buf when it is large enough. What
// does not match its sum is errDamagedPack.
func (ps *packs) read(p *pack, r record, buf []byte) ([]byte, error) {
	f, err := ps.file(p)
	if err != nil {
		return nil, err
	}
	if cap(buf) < int(r.size) {
		buf = make([]byte, r.size)
	}
	buf = buf[:r.size]
	if err := readAt(f, buf, r.at); err != nil {
		return nil, err
	}
	if sha256.Sum256(buf) != r.sum {
		return nil, errDamagedPack
	}
	return buf, nil
}

func (ps *packs) file(p *pack) (*os.File, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if f := ps.open[p]; f != nil {
		return f, nil
	}
	f, err := os.Open(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errDamagedPack
	}
	if err == nil {
		ps.open[p] = f
	}
	return f, err
}

func (ps *packs) close() {
	for _, f := range ps.open {
		f.Close()
	}
}
