//go:build linux

package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/taskhost/process"
)

// Submit implements run.Service.
func (p *Plane) Submit(ctx context.Context, s run.Submission) (run.Run, error) {
	if err := p.accept(&s); err != nil {
		return run.Run{}, err
	}
	r, err := p.prepare(ctx, s)
	if err != nil {
		return r, err
	}
	ctx = context.WithoutCancel(ctx) // from here on it is submitted as a whole
	cool := p.warm(&r)
	crash.Point("submit.before-create")
	l, err := takeLock(p.runDir(r.ID), false)
	if err == nil {
		err = p.config.Store.Create(ctx, r)
	}
	if err != nil {
		cool()
		if l != nil {
			l.release()
		}
		_ = os.RemoveAll(p.runDir(r.ID))
		return r, err
	}
	crash.Point("submit.after-create")
	if s.Attached {
		err = p.ownAttached(r, l)
	} else {
		l.release()
	}
	if err == nil && r.Grant == nil {
		err = p.round(ctx)
		p.nudge(r.ID) // it may have a reason to wait
	}
	if err == nil && !s.Attached && !waits(&r) {
		err = p.startOwner(r.ID)
	}
	return r, err
}

// warm lets the engine begin with a run that will start as soon as it is
// recorded, and that this process will own.
func (p *Plane) warm(r *run.Run) (cool func()) {
	w, ok := p.config.Engine.(engine.Warmer)
	if !ok || !r.Attached || r.Grant == nil || r.Intent.Want == run.WantSuspend {
		return func() {}
	}
	return w.Warm(p.engineRun(r))
}

// prepare makes the run and its folder.
func (p *Plane) prepare(ctx context.Context, s run.Submission) (run.Run, error) {
	r := run.Run{
		Spec: s.Spec, Phase: run.Pending, Engine: p.config.Engine.Capabilities().Name,
		Created: time.Now().Round(0), Attached: s.Attached, Origin: s.Origin, Fence: 1,
	}
	if s.Spec.Suspend {
		r.Intent = run.Intent{Want: run.WantSuspend, By: "its job file"}
	}
	r.Origin.Node, _ = os.Hostname()
	r.Origin.Boot = process.BootID()
	if u, err := user.Current(); err == nil {
		r.Origin.User = u.Username
	}
	if err := p.admit(&r); err != nil {
		return r, err
	}
	var err error
	if r.ID, err = claimID(s.Spec.Name, p.runDir); err != nil {
		return r, stateProblem(err, p.config.StateDir)
	}
	dir := p.runDir(r.ID)
	r.Origin.RunDir = dir
	v := launch.Private{Env: rendezvous.Strip(s.Env), RoleEnv: s.RoleEnv}
	for _, step := range []func() error{
		func() error { return p.findRuntime(&r, s.Env, &v) },
		func() error { return makeRunDir(dir) },
		func() error { return p.freeze(ctx, &r, s) },
		func() error { return makeCheckpoint(&r.Spec) },
		func() error { return p.noteShared(ctx, &r) },
		func() error { return p.inherit(ctx, &r, s.Resume) },
		func() error { return p.markExpiry(&r) },
		func() error { return keepSecrets(dir, &r.Spec, s.Secrets, &v) },
		func() error { return p.placeInputs(ctx, &r, &v) },
		func() error { p.outputEnv(&r, &v); return writePrivate(dir, v) },
	} {
		if err := step(); err != nil {
			_ = os.RemoveAll(dir)
			return r, stateProblem(err, p.config.StateDir)
		}
	}
	return r, nil
}

// stateProblem names the state directory when that is what is wrong.
func stateProblem(err error, dir string) error {
	var pe *problem.Error
	if errors.As(err, &pe) {
		return err
	}
	for _, e := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM} {
		if errors.Is(err, e) {
			return problem.Wrap(problem.Refused, err, "the state directory %s cannot be written", dir).
				WithHint("free some space there, or set MUSTER_STATE_DIR to another directory")
		}
	}
	return err
}

// idLetters has no letter that is easily read as another.
const idLetters = "abcdefghjkmnpqrstuvwxyz23456789"

// claimID finds an id that nobody has, and makes its folder: whoever makes that
// has the id, so that no run ever touches what another keeps.
func claimID(name string, folder func(id string) string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(folder(name)), 0o700); err != nil {
		return "", err
	}
	for {
		id := newID(name)
		err := os.Mkdir(folder(id), 0o700)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return id, err
		}
	}
}

// newID is the job's name with four letters that tell its runs apart.
func newID(name string) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = idLetters[int(b[i])%len(idLetters)]
	}
	return name + "-" + string(b[:])
}

// startOwner starts a process that owns a detached run.
func (p *Plane) startOwner(id string) error {
	p.mu.Lock()
	p.rescued[id] = time.Now()
	p.mu.Unlock()
	return p.start(id)
}

// spawnOwner is startOwner in a process of its own.
func (p *Plane) spawnOwner(id string) error {
	if err := os.MkdirAll(p.runDir(id), 0o700); err != nil { // somebody may have removed it
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	log, err := os.OpenFile(filepath.Join(p.runDir(id), "owner.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	proc, err := os.StartProcess(p.config.Exe, []string{p.config.Exe, "own", p.runDir(id)}, &os.ProcAttr{
		Dir: "/", Env: ownerEnv(os.Environ(), p.config.StateDir), Files: []*os.File{null, log, log}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("start an owner for %s: %w", id, err)
	}
	go func() { _, _ = proc.Wait() }()
	return nil
}

// ownerEnv is what an owner in the background needs; the tasks' environment is
// kept with the run.
func ownerEnv(env []string, stateDir string) []string {
	out := []string{"MUSTER_STATE_DIR=" + stateDir}
	for _, kv := range env {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "HOME", "PATH", "TZ", "LANG", "TMPDIR", "GOCOVERDIR", "MUSTER_CRASH_AT", "MUSTER_SLOTS", "MUSTER_GPUS", "XDG_CONFIG_HOME":
			out = append(out, kv)
		}
	}
	return out
}

// rescue starts an owner for a run that should have one and has none: its
// owner and its host have both been killed, or the machine was restarted, or
// it has ended and its owner died before everything was put away. An
// owner takes a moment to begin, so it is tried once a second at most. It says
// whether one was started.
func (p *Plane) rescue(r *run.Run) bool {
	node, _ := os.Hostname()
	if r.Origin.Node != node || r.Done() && !p.unfinished(r.ID) || sleeps(r) || owned(p.runDir(r.ID)) {
		return false
	}
	if !exists(p.runDir(r.ID)) && len(process.WithArgument(p.runDir(r.ID))) > 0 {
		return false // its folder was removed: who is left of it notices, and ends it
	}
	p.mu.Lock()
	recently := time.Since(p.rescued[r.ID]) < time.Second
	p.mu.Unlock()
	switch {
	case recently:
	case waits(r):
		_ = p.round(context.Background())
	default:
		return p.startOwner(r.ID) == nil // else the next look at the run tries again
	}
	return false
}

// settling is how long a look at a run waits for an owner that it had to start:
// what the record says of such a run is most often no longer so.
const settling = 500 * time.Millisecond

// settle gives a new owner time to find out how a run stands.
func (p *Plane) settle(ctx context.Context, r *run.Run) {
	for begin := time.Now(); time.Since(begin) < settling && ctx.Err() == nil; {
		if now, err := p.config.Store.Get(ctx, r.ID); err == nil {
			*r = now
		}
		if r.Done() {
			return
		}
		time.Sleep(settling / 50)
	}
}

// unfinished says that the owner of a run that has ended died before it had
// put away what tasks inherit, which may be secret, and all the rest.
func (p *Plane) unfinished(id string) bool {
	_, err := os.Lstat(filepath.Join(p.runDir(id), privateName))
	return err == nil
}

// declared is the job with the names, not the values, of the variables that its
// roles are given beside it: they may contradict the rendezvous too.
func declared(s *run.Submission) *job.Spec {
	spec := s.Spec
	spec.Roles = maps.Clone(spec.Roles)
	for name, env := range s.RoleEnv {
		if spec.Roles[name] == nil {
			continue
		}
		role := *spec.Roles[name]
		role.EnvFrom = slices.Concat(role.EnvFrom, slices.Sorted(maps.Keys(env)))
		spec.Roles[name] = &role
	}
	return &spec
}

// accept completes a job and refuses what is wrong with it, or what this version
// or this engine cannot honour. Whoever sent it is not believed to have checked.
func (p *Plane) accept(s *run.Submission) error {
	if s.Spec.Name == "" {
		s.Spec.Name = "job"
	}
	if err := hideLogin(s); err != nil {
		return err
	}
	fw, err := rendezvous.ByName(s.Spec.Framework.Name)
	if err != nil {
		return err
	}
	var list problem.List
	for _, name := range slices.SortedFunc(maps.Keys(s.Spec.Roles), job.CompareRoles) {
		if s.Spec.Roles[name] == nil {
			list = append(list, &problem.Error{Kind: problem.Invalid, Field: "roles." + name, Text: "is null; give it at least its replicas"})
		}
	}
	if len(list) > 0 {
		return list // nobody else expects that
	}
	rendezvous.Complete(&s.Spec)
	for _, f := range rendezvous.Faults(&s.Spec) {
		list = append(list, &problem.Error{Kind: problem.Invalid, Field: f.Field(), Text: f.Text})
	}
	if len(list) > 0 {
		return list
	}
	list = append(fw.Check(declared(s)), unsupported(&s.Spec, p.config.Engine.Capabilities())...)
	list = append(list, checkpointFaults(&s.Spec, p.config.StateDir)...)
	return append(list, containerFaults(&s.Spec, s.Origin)...).Err()
}
