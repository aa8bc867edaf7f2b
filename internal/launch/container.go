package launch

import (
	"path/filepath"
	"slices"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
)

// shellInImage is the image's own bash, or sh where it has none.
const shellInImage = `[ -x /bin/bash ] && exec /bin/bash -e -c "$0"; exec /bin/sh -e -c "$0"`

// contain puts a task into its role's image.
func (l *Launcher) contain(to *engine.Launch, r *run.Run, s Start) {
	role := r.Spec.Roles[s.Task.Role]
	c := role.ContainerOr()
	to.Container = &engine.Container{
		Image: role.Image.Name, Pull: role.Image.Pull, Entrypoint: c.Entrypoint, Keep: role.Run == "" && role.Command == nil,
		User: c.User, Groups: s.Node.Groups, Network: c.Network, Privileged: c.Privileged, Options: c.Options,
		Mounts: l.mounts(r, s.Instance), Shm: int64(role.Resources.Shm), GPUs: devices(r.Grant, s.Task, s.Plan),
	}
	if l.Private.Runtime != nil {
		to.Container.Runtime = *l.Private.Runtime
	}
	if value, ok := l.Private.Logins[role.Image.Auth]; ok {
		to.Container.Login, _ = engine.LoginFor(role.Image.Name, role.Image.Auth, value) // it was one when the job was submitted
	}
	if role.Run != "" {
		to.Argv = []string{"/bin/sh", "-c", shellInImage, role.Run}
	}
	if len(s.Plan.Rank) > 0 {
		to.Argv = l.asRank(engine.MusterInside, s.Plan, slices.Concat(c.Entrypoint, to.Argv))
		to.Container.Ranks, to.Container.Entrypoint, to.Container.Keep = true, nil, false
	}
	if role.Workdir == "" && r.Origin.Code == "" {
		to.Dir = ""
		if mountable(r.Origin.Dir) {
			to.Container.Fallback = r.Origin.Dir
		}
	}
	if c.User != "" && s.Node.UID != 0 || c.Network != "host" {
		to.Joined = nil // it cannot be seen from outside
	}
}

// asRank is a command as package rank carries it out; that of a launcher is
// already in the plan.
func (l *Launcher) asRank(exe string, plan rendezvous.Plan, argv []string) []string {
	if len(argv) > 0 {
		argv = append([]string{"--"}, argv...)
	}
	return slices.Concat([]string{exe, "rank", l.Dir}, plan.Rank, argv)
}

// mounts are what a task in a container sees of this machine: its volumes, and
// at their own paths the run's folders and the code, or the caller's folder.
func (l *Launcher) mounts(r *run.Run, i job.Instance) []engine.Mount {
	var all []engine.Mount
	for _, v := range r.Spec.Roles[i.Task.Role].Volumes {
		all = append(all, engine.Mount{Source: v.Source, Path: v.Path, ReadOnly: v.ReadOnly})
	}
	same := func(path string, readOnly bool) {
		all = append(all, engine.Mount{Source: path, Path: path, ReadOnly: readOnly})
	}
	if r.Origin.Code != "" {
		same(filepath.Join(l.Dir, CodeDir), false)
	} else if mountable(r.Origin.Dir) {
		same(r.Origin.Dir, false)
	}
	own := l.own(r, i)
	for _, name := range []string{"MUSTER_OUTPUT_DIR", "MUSTER_CHECKPOINT_DIR", "MUSTER_GROUP_DIR"} {
		if dir := own[name]; dir != "" {
			same(dir, false)
		}
	}
	if len(r.Spec.Inputs) > 0 {
		same(filepath.Join(l.Dir, InputsDir), true)
	}
	for _, in := range r.Spec.Inputs {
		if filepath.IsAbs(in.From) { // the folder has a link to it
			same(in.From, true)
		}
	}
	return append(all, l.secretMounts(&r.Spec)...)
}

func (l *Launcher) secretMounts(s *job.Spec) (all []engine.Mount) {
	for name, secret := range s.Secrets {
		if secret.As == "" {
			continue
		}
		dir := filepath.Join(l.Dir, SecretsDir)
		if len(all) == 0 {
			all = append(all, engine.Mount{Source: dir, Path: dir, ReadOnly: true})
		}
		if filepath.IsAbs(secret.As) {
			all = append(all, engine.Mount{Source: filepath.Join(dir, SecretFile(name, secret)), Path: secret.As, ReadOnly: true})
		}
	}
	slices.SortFunc(all, func(a, b engine.Mount) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// mountable says that a folder can be shown at its own path without hiding what
// an image has there.
func mountable(dir string) bool {
	top := strings.SplitN(strings.TrimPrefix(filepath.Clean(dir), "/"), "/", 2)
	switch {
	case !filepath.IsAbs(dir) || top[0] == "":
		return false
	case len(top) > 1 && top[0] != "proc" && top[0] != "sys" && top[0] != "dev":
		return true
	}
	return !slices.Contains([]string{"bin", "boot", "dev", "etc", "lib", "lib64", "opt", "proc", "run", "sbin", "sys", "usr", "var"}, top[0])
}
