//go:build linux

package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/taskhost/process"
)

// The files of a run's folder that belong to its owner.
const (
	lockName    = "owner.lock"
	nudgeName   = "nudge"     // touched when there is a new intent
	liveName    = "live.json" // usage, which is never stored
	privateName = "env.json"  // what tasks inherit: may hold secrets, goes with the run's end
	reserveName = "reserve"   // room for the verdict when the disk is full
)

// reserveBytes is freed when a run ends, so that its verdict can be written
// even though its tasks have filled the disk.
const reserveBytes = 1 << 20

// makeTaskDirs makes the folders that every task is promised, in the run's own.
func makeTaskDirs(dir string) error {
	for _, name := range []string{launch.OutputsDir, launch.CheckpointDir} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func makeRunDir(dir string) error {
	if err := errors.Join(os.MkdirAll(dir, 0o700), makeTaskDirs(dir)); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, reserveName), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Fallocate(int(f.Fd()), 0, 0, reserveBytes); err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	if free, err := process.FreeBytes(dir); err == nil && free < process.LeastFree {
		return fmt.Errorf("%d KB are left, and a run needs %d: %w", free/1000, process.LeastFree/1000, unix.ENOSPC)
	}
	return nil
}

// A lock is the ownership of a run on this machine: whoever holds it owns it.
// The kernel gives it back when its holder dies, whatever it dies of.
type lock struct{ f *os.File }

// takeLock takes the lock of a run; a Conflict says that somebody has it. With
// force it takes a new one in its place: the fence then keeps the holder of the
// old one, who may only be stopped, from doing anything more.
func takeLock(dir string, force bool) (*lock, error) {
	path := filepath.Join(dir, lockName)
	if force {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, wholeFile()); err != nil {
			_ = f.Close()
			return nil, problem.New(problem.Conflict, "%s has an owner already", filepath.Base(dir)).WithHint("muster attach %s watches it", filepath.Base(dir))
		}
		if sameFile(f, path) {
			return &lock{f}, nil
		}
		_ = f.Close() // replaced by force between our open and our lock
	}
}

// wholeFile is an exclusive lock on all of a file. It is of the kind that
// belongs to the open file, so that it can be asked about without taking it.
func wholeFile() *unix.Flock_t { return &unix.Flock_t{Type: unix.F_WRLCK} }

// owned says whether somebody holds the lock of a run.
func owned(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	defer f.Close()
	l := wholeFile()
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, l) != nil || l.Type != unix.F_UNLCK
}

func sameFile(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

func (l *lock) release() { _ = l.f.Close() }

// holds says that nobody has taken the run by force. It may be so a moment
// later: only the fence keeps an old owner from doing harm.
func (l *lock) holds() bool { return sameFile(l.f, l.f.Name()) }

// removeAll removes a folder into which somebody who is just leaving may still
// write.
func removeAll(dir string) (err error) {
	for range 100 {
		if err = os.RemoveAll(dir); !errors.Is(err, unix.ENOTEMPTY) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// leaveOnlyRecord removes what only a run under way needs. That there are no
// private things any more says that all of it is done; whoever nudges later
// than that sees it, and who did a moment before is cleared up after.
func (p *Plane) leaveOnlyRecord(id string) {
	for _, name := range []string{launch.SecretsDir, liveName, liveName + ".new", nudgeName, reserveName, privateName, nudgeName} {
		_ = os.RemoveAll(filepath.Join(p.runDir(id), name))
	}
}

// nudge tells the owner of a run, wherever it is, that there is a new intent.
func (p *Plane) nudge(id string) {
	p.mu.Lock()
	o := p.owned[id]
	p.mu.Unlock()
	if o != nil {
		o.nudge()
		return
	}
	path := filepath.Join(p.runDir(id), nudgeName)
	_ = os.WriteFile(path, []byte(time.Now().String()), 0o600)
	if !p.unfinished(id) {
		_ = os.Remove(path) // it has had its turn and ended meanwhile
	}
}

// live is what an owner tells other processes of usage.
type live struct {
	At    time.Time               `json:"at"`
	Usage map[string]engine.Usage `json:"usage"`
}

func writeLive(dir string, o engine.Observed) {
	l := live{time.Now(), map[string]engine.Usage{}}
	for _, i := range o.Instances {
		if !i.State.Gone() {
			l.Usage[i.Instance.String()] = i.Usage
		}
	}
	b, err := json.Marshal(l)
	if err != nil {
		return
	}
	tmp := filepath.Join(dir, liveName+".new")
	if os.WriteFile(tmp, b, 0o600) == nil {
		_ = os.Rename(tmp, filepath.Join(dir, liveName))
	}
}

// addLive adds to a run under way what its owner last said of its usage.
func (p *Plane) addLive(r *run.Run) {
	if r.Done() {
		return
	}
	b, err := os.ReadFile(filepath.Join(p.runDir(r.ID), liveName))
	if err != nil {
		return
	}
	var l live
	if json.Unmarshal(b, &l) != nil {
		return
	}
	age := max(time.Since(l.At), 0)
	for n := range r.Tasks {
		u, ok := l.Usage[r.Tasks[n].Instance.String()]
		if ok && !r.Tasks[n].State.Gone() {
			u.Silent += age
			r.Tasks[n].Usage = u
		}
	}
}

func writePrivate(dir string, v launch.Private) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, privateName), b, 0o600)
}

func readPrivate(dir string) (launch.Private, error) {
	var v launch.Private
	b, err := os.ReadFile(filepath.Join(dir, privateName))
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	return v, err
}

// lockEnded takes the lock of a run that has ended. Its owner may still be
// putting things away.
func lockEnded(ctx context.Context, dir string) (*lock, error) {
	for end := time.Now().Add(ownerEnds); ; {
		l, err := takeLock(dir, false)
		if problem.KindOf(err) != problem.Conflict || time.Now().After(end) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// ownerEnds is how long an owner may take to end after its run.
const ownerEnds = 10 * time.Second

// remove deletes a run that has ended, and all that was kept of it.
func (p *Plane) remove(ctx context.Context, id string) (run.Run, error) {
	r, err := p.config.Store.Get(ctx, id)
	if err != nil {
		return r, err
	}
	if !r.Done() {
		return r, problem.New(problem.Conflict, "%s has not ended: %s", r.ID, r.Phase).WithHint("muster stop %s", r.ID)
	}
	l, err := lockEnded(ctx, p.runDir(r.ID))
	switch {
	case errors.Is(err, fs.ErrNotExist): // the folder is gone already
	case err != nil:
		return r, err
	default:
		defer l.release()
	}
	if p.unfinished(r.ID) {
		if err := p.config.Engine.Forget(ctx, p.engineRun(&r)); err != nil {
			return r, err
		}
	}
	// The record goes last: what is left of an interrupted removal can be removed again.
	if err := removeAll(p.runDir(r.ID)); err != nil {
		return r, err
	}
	crash.Point("remove.before-delete")
	if err := p.config.Store.Delete(ctx, r.ID); err != nil {
		return r, err
	}
	return r, p.dropGroup(ctx, &r)
}
