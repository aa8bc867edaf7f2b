package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store/storetest"
)

// SQLite calls the file system through tables of functions. The test puts its
// own in front of those that make a file or a folder durable, and counts: SQLite
// opens a folder for nothing else.
type (
	openFunc   func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	syncFunc   func(tls *libc.TLS, file uintptr, flags int32) int32
	folderFunc func(tls *libc.TLS, path, out uintptr) int32
	setFunc    func(tls *libc.TLS, vfs, name, call uintptr) int32
	getFunc    func(tls *libc.TLS, vfs, name uintptr) uintptr
)

var (
	realOpen   openFunc
	realSync   syncFunc
	realFolder folderFunc
	syncs      atomic.Int64

	// SQLite has functions as numbers, which do not keep them alive: these do.
	ourOpen openFunc = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
		rc := realOpen(tls, vfs, name, file, flags, out)
		if table := at[sqlite3.Tsqlite3_file](file).FpMethods; table != 0 {
			replaceSync(at[sqlite3.Tsqlite3_io_methods](table))
		}
		return rc
	}
	ourSync syncFunc = func(tls *libc.TLS, file uintptr, flags int32) int32 {
		syncs.Add(1)
		return realSync(tls, file, flags)
	}
	ourFolder folderFunc = func(tls *libc.TLS, path, out uintptr) int32 {
		syncs.Add(1)
		return realFolder(tls, path, out)
	}
)

func replaceSync(methods *sqlite3.Tsqlite3_io_methods) {
	if methods.FxSync != number(ourSync) {
		realSync = function[syncFunc](methods.FxSync)
		methods.FxSync = number(ourSync)
	}
}

func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }
func function[F any](n uintptr) F  { return *(*F)(unsafe.Pointer(&n)) }
func number[F any](f F) uintptr    { return *(*uintptr)(unsafe.Pointer(&f)) }

// countSyncs counts for files that are opened from now on. It returns what
// tells the cost of do.
func countSyncs(t *testing.T) (cost func(do func() error) int64) {
	tls := libc.NewTLS()
	address := sqlite3.Xsqlite3_vfs_find(tls, 0)
	vfs := at[sqlite3.Tsqlite3_vfs](address)
	name, err := libc.CString("openDirectory")
	if err != nil {
		t.Fatal(err)
	}
	set := function[setFunc](vfs.FxSetSystemCall)
	realOpen = function[openFunc](vfs.FxOpen)
	realFolder = function[folderFunc](function[getFunc](vfs.FxGetSystemCall)(tls, address, name))
	vfs.FxOpen = number(ourOpen)
	set(tls, address, name, number(ourFolder))
	realFlush := flush
	flush = func(path string) error { syncs.Add(1); return realFlush(path) }
	t.Cleanup(func() {
		flush = realFlush
		vfs.FxOpen = number(realOpen)
		set(tls, address, name, 0) // 0 is SQLite's own
		libc.Xfree(tls, name)
		tls.Close()
	})
	return func(do func() error) int64 {
		t.Helper()
		before := syncs.Load()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		return syncs.Load() - before
	}
}

// Waiting for the disk is most of what the store costs a short run, and not
// waiting would break the promise of Create and of an end.
func TestFsyncsOfARun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	open(t, path) // stays open, as the log of an earlier run would
	cost := countSyncs(t)

	var s *Store
	change := func(f func(*run.Run)) func() error {
		return func() error {
			_, err := s.Update(t.Context(), "a-00001", func(r *run.Run) error { f(r); return nil })
			return err
		}
	}
	for _, c := range []struct {
		name string
		do   func() error
		want int64
	}{
		{"open", func() (err error) { s, err = Open(path, Options{}); return err }, 0},
		{"create", func() error { return s.Create(t.Context(), storetest.Sample(1, "a")) }, 1},
		{"start", change(func(r *run.Run) { r.Phase = run.Starting }), 0},
		{"run", change(func(r *run.Run) { r.Phase, r.Fence = run.Running, 2 }), 0},
		{"nothing", change(func(*run.Run) {}), 0},
		{"stop", change(func(r *run.Run) { r.Intent.Want = run.WantStop }), 0},
		{"wind down", change(func(r *run.Run) { r.Phase = run.Ending }), 0},
		{"end", change(func(r *run.Run) { r.Phase = run.Stopped }), 1},
		{"read", func() error { _, err := s.Get(t.Context(), ""); return err }, 0},
		{"delete", func() error { return s.Delete(t.Context(), "a-00001") }, 0},
	} {
		if got := cost(c.do); got != c.want {
			t.Errorf("%s: %d fsyncs, want %d", c.name, got, c.want)
		}
	}
	db := s.db
	if got := cost(func() error { s.Abandon(); return s.Close() }); got != 0 {
		t.Errorf("abandon: %d fsyncs", got)
	}
	_ = db.Close()
}

// Each step is a process of its own, as when one submits and another owns; who
// looks now and then keeps the log short, so that no run has to.
func TestFsyncsOfManyRuns(t *testing.T) {
	cost := countSyncs(t)
	path := filepath.Join(t.TempDir(), "runs.db")
	open(t, path)
	anew := func(do func(s *Store) error) error {
		s, err := Open(path, Options{})
		if err != nil {
			return err
		}
		return errors.Join(do(s), s.Close())
	}
	looks := int64(0)
	for n := range 60 {
		r := storetest.Sample(n, "a")
		r.Notes = []string{strings.Repeat("x", 4000)}
		got := cost(func() error {
			err := anew(func(s *Store) error { return s.Create(t.Context(), r) })
			return errors.Join(err, anew(func(s *Store) error {
				for _, p := range []run.Phase{run.Starting, run.Running, run.Ending, run.Succeeded} {
					if _, err := s.Update(t.Context(), r.ID, func(r *run.Run) error { r.Phase = p; return nil }); err != nil {
						return err
					}
				}
				return nil
			}))
		})
		if got != 2 {
			t.Errorf("run %d: %d fsyncs, want 2", n, got)
		}
		looks += cost(func() error {
			return anew(func(s *Store) error { _, err := s.List(t.Context(), run.Query{Limit: 10}); return err })
		})
	}
	if looks == 0 {
		t.Error("the log was never trimmed")
	}
}
