package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A packUse says how much of a pack is needed.
type packUse struct {
	*pack
	need []record // what snapshots have and no other pack does
	size int64    // of that
}

// usesOf finds what the packs are needed for. Content that several packs have
// counts for one of them only.
func usesOf(list []*pack, used map[digest]bool) []packUse {
	taken := map[digest]bool{}
	uses := make([]packUse, len(list))
	for i, p := range list {
		uses[i].pack = p
		for n := range p.index.len() {
			r := p.index.record(n)
			if !used[r.sum] || taken[r.sum] || p.bad[r.sum] {
				continue
			}
			taken[r.sum] = true
			uses[i].need = append(uses[i].need, r)
			uses[i].size += int64(r.size)
		}
	}
	return uses
}

// stale reports whether a pack is to be written anew without what is of no use:
// when that is more than half of it, so that a store is never more than twice
// as large as what its snapshots need, or when something in it is damaged.
func (u packUse) stale() bool { return 2*u.size < u.pack.size-u.overhead() || len(u.bad) > 0 }

// overhead is what a pack has beside content.
func (u packUse) overhead() int64 {
	return int64(len(packHeader) + len(u.index) + trailerLen)
}

// prunePacks removes the packs that nothing needs and puts the rest of those
// that are stale into a new one. Nobody else uses the store meanwhile.
func (s *Store) prunePacks(used map[digest]bool) error {
	ps, err := s.packs()
	if err != nil {
		return err
	}
	defer ps.close()
	if err := s.pruneDamaged(ps); err != nil {
		return err
	}
	var stale []packUse
	for _, u := range usesOf(ps.list, used) {
		switch {
		case len(u.need) == 0:
			if err := s.removePack(u.name); err != nil {
				return err
			}
		case u.stale():
			stale = append(stale, u)
		}
	}
	err = s.repack(ps, stale)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return nil // what could be freed without room is free; the next Prune will do the rest
	}
	return err
}

// pruneDamaged removes what is no whole pack, and lists whose pack is gone.
func (s *Store) pruneDamaged(ps *packs) error {
	for _, name := range ps.damaged {
		if err := s.removePack(name); err != nil {
			return err
		}
	}
	files, err := readDir(s.packDir())
	if err != nil {
		return err
	}
	for _, d := range files {
		name := filepath.Join(s.packDir(), d.Name())
		of, isList := strings.CutSuffix(name, badSuffix)
		if _, err := os.Lstat(of); !isList || !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// repack puts what is needed of some packs into a new one. What is damaged is
// left out: there is no other copy, and the next Take writes it again.
func (s *Store) repack(ps *packs, stale []packUse) error {
	if len(stale) == 0 {
		return nil
	}
	w := &writer{Store: s}
	var err error
	if w.tmp, err = newTempDir(filepath.Join(s.Dir, "tmp"), "take-"); err != nil {
		return err
	}
	defer w.tmp.remove()
	to := newPacker(w)
	defer to.close()
	buf := new(buffer)
	for _, u := range stale {
		for _, r := range u.need {
			text, err := ps.read(u.pack, r, buf[:0])
			if errors.Is(err, errDamagedPack) {
				continue
			}
			if err != nil {
				return err
			}
			if err := to.add(r.sum, text); err != nil {
				return err
			}
		}
	}
	if err := to.finish(); err != nil {
		return err
	}
	for _, u := range stale {
		if err := s.removePack(u.name); err != nil {
			return err
		}
	}
	return nil
}

// removePack removes a pack before its list of what is damaged: without the
// list, a pack that is still there would seem whole.
func (s *Store) removePack(name string) error {
	if err := os.Remove(name); err != nil {
		return err
	}
	s.reached(packRemoved)
	err := os.Remove(name + badSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// forgotten is the age at which the list of a folder that is not submitted from
// any more goes.
const forgotten = 30 * 24 * time.Hour

func (s *Store) pruneSeen() error {
	list, err := readDir(s.seenDir())
	if err != nil {
		return err
	}
	for _, d := range list {
		info, err := d.Info()
		if err != nil {
			return err
		}
		if time.Since(info.ModTime()) < forgotten {
			continue
		}
		if err := os.Remove(filepath.Join(s.seenDir(), d.Name())); err != nil {
			return err
		}
	}
	return nil
}
