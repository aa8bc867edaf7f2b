// Package snapshot keeps immutable copies of folders, named by their content:
// the code that a run was submitted with, and that each restart runs again.
package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// A Store keeps snapshots in one folder. Several processes may use the same
// folder at the same time. It holds
//
//	packs/NAME.pack   the content of many small files; see packHeader
//	packs/NAME.pack.bad  what in it was found damaged
//	objects/ab/cdef…  the content of one file, named by its SHA-256: of large
//	                  ones, of small ones when few were new, and of all of
//	                  them in stores from before there were packs
//	manifests/ID      what a snapshot consists of, named by its SHA-256
//	seen/FOLDER       what the files of a folder held; see seen
//	tmp/              what is being written
//	lock              shared by those who read and add, exclusive for Prune
//
// Content comes before the manifest that names it, and everything appears
// complete or not at all, so whoever is killed leaves nothing but waste.
// Nothing is flushed to the disk: content is checked against its SHA-256 when
// it is used, and what a power cut has damaged is dropped then, so that the
// next Take writes it again.
type Store struct {
	Dir string

	step func(step) // tests stop here or there; nil for none
}

// A step is one after which the store is different for others.
type step string

const (
	packBegun       step = "pack begun"
	packWritten     step = "pack written"
	packNamed       step = "pack named"
	objectNamed     step = "object named"
	manifestNamed   step = "manifest named"
	manifestRemoved step = "manifest removed"
	packRemoved     step = "pack removed"
)

func (s *Store) reached(at step) {
	if s.step != nil {
		s.step(at)
	}
}

// A Snapshot is a folder as it was.
type Snapshot struct {
	ID    string      `json:"id"` // the same content has the same id
	Files int         `json:"files"`
	Size  int64       `json:"size"`
	Large []LargeFile `json:"large,omitempty"` // largest first
}

// Short is the id as people see it.
func (s Snapshot) Short() string { return s.ID[:min(6, len(s.ID))] }

// A LargeFile is one that its owner may not have meant to include.
type LargeFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// Options bound a snapshot. The zero value means the defaults.
type Options struct {
	MaxSize   int64    // of all files together; 1 GiB
	MaxFiles  int      // files, links and folders; 100,000
	LargeOver int64    // larger files are listed in Snapshot.Large; 50 MB
	Skip      []string // files and folders that stay out, such as the state folder
	Committed bool     // it is a fresh checkout: .gitignore keeps nothing out, as all in it was committed
}

func (o Options) withDefaults() Options {
	if o.MaxSize == 0 {
		o.MaxSize = 1 << 30
	}
	if o.MaxFiles == 0 {
		o.MaxFiles = 100_000
	}
	if o.LargeOver == 0 {
		o.LargeOver = 50_000_000
	}
	return o
}

// An Error is a problem with one file that its owner can solve.
type Error struct {
	Path string // as the user would type it: root and name
	Text string
	Hint string // the next step; may be empty
	Err  error  // the cause; may be nil
}

func (e *Error) Error() string {
	text := e.Path + ": " + e.Text
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Take stores the folder root as it is now and returns its snapshot. It is
// safe to call twice and at the same time; content that is already there is
// not written again. A folder that cannot be stored whole is an *Error.
func (s *Store) Take(ctx context.Context, root string, o Options) (Snapshot, error) {
	o = o.withDefaults()
	o.Skip = append([]string{s.Dir}, o.Skip...)
	t, err := walk(ctx, root, o)
	if err != nil {
		return Snapshot{}, err
	}
	w, err := s.writer()
	if err != nil {
		return Snapshot{}, fmt.Errorf("open the code store: %w", err)
	}
	defer w.close()
	was := s.loadSeen(t.real)
	now, err := w.addAll(ctx, t, was)
	if err != nil {
		return Snapshot{}, err
	}
	text := encode(t.entries)
	snap := summary(t.entries, o.LargeOver)
	snap.ID = sum(text)
	// Written also when it is there: its time tells Prune that it is in use.
	if err := w.put(s.manifest(snap.ID), text); err != nil {
		return Snapshot{}, fmt.Errorf("store the list of files: %w", err)
	}
	s.reached(manifestNamed)
	w.saveSeen(t.real, was, now)
	return snap, nil
}

// Has reports whether the snapshot is in the store.
func (s *Store) Has(id string) bool {
	if !isSum(id) {
		return false
	}
	_, err := os.Stat(s.manifest(id))
	return err == nil
}

func (s *Store) manifest(id string) string { return filepath.Join(s.Dir, "manifests", id) }

func (s *Store) object(sum string) string {
	return filepath.Join(s.Dir, "objects", sum[:2], sum[2:])
}

func (s *Store) lockFile() string { return filepath.Join(s.Dir, "lock") }
