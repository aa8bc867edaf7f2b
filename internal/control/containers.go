//go:build linux

package control

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
)

// findRuntime chooses what makes the containers of a job that has images, and
// remembers it for all owners of the run.
func (p *Plane) findRuntime(r *run.Run, env []string, v *private) error {
	if !hasImage(&r.Spec) {
		return nil
	}
	e, ok := p.config.Engine.(engine.ContainerEngine)
	if !ok {
		return problem.New(problem.Refused, "%s runs no containers", r.Engine)
	}
	var err error
	v.Runtime, err = e.FindRuntime(env)
	return err
}

// containerFaults lists what a job asks of containers and cannot have.
func containerFaults(s *job.Spec, o run.Origin) problem.List {
	var l problem.List
	for _, name := range s.RoleNames() {
		r, at := s.Roles[name], "roles."+name+"."
		refuse := func(asked bool, field, text, hint string) {
			if asked {
				l = append(l, &problem.Error{Kind: problem.Refused, Field: at + field, Text: text, Hint: hint})
			}
		}
		for n, v := range r.Volumes {
			field := fmt.Sprintf("volumes[%d]", n)
			refuse(!filepath.IsAbs(v.Source), field, fmt.Sprintf("%q is not bound to a folder of this machine", v.Source), "--mount "+v.Source+"=DIR")
			refuse(filepath.IsAbs(v.Source) && !exists(v.Source), field, v.Source+" is not there", "mkdir -p "+v.Source)
			refuse(!filepath.IsAbs(v.Path), field, fmt.Sprintf("%q is no absolute path", v.Path), "write where the container shall see it")
			refuse(v.Type != "" && v.Type != "bind" || len(v.Options) > 0, field, "a type and options of volumes mean nothing on one machine", "mount it there and give the path")
		}
		if r.Image == nil {
			refuse(r.Container != nil, "container", "needs an image", "image: NAME, or leave container out")
			refuse(len(r.Volumes) > 0, "volumes", "need an image: outside a container paths are this machine's own", "write these into the command")
			continue
		}
		c := containerOf(r)
		if ranked(s) {
			refuse(c.User != "", "container.user", "ranks of "+s.Framework.Name+" meet in a folder of yours", "leave it out")
			refuse(name == "worker" && r.Run == "" && r.Command == nil && len(c.Entrypoint) == 0, "image", "what a rank runs is the image's own, which is not known before", "name it with run, command or container.entrypoint")
		}
		refuse(c.Network != "host" && s.Framework.Name != "plain", "container.network", "tasks of a "+s.Framework.Name+" job meet at this machine's addresses", "network: host")
		asks := c.Privileged || len(c.Options) > 0
		refuse(asks && !o.Privileged, "container", "privileged and options give the container power over this machine", "--allow-privileged")
	}
	return append(l, outputFaults(s)...)
}

// outputFaults finds outputs that would be lost with the container.
func outputFaults(s *job.Spec) (l problem.List) {
	if !hasImage(s) {
		return nil
	}
	for n, o := range s.Outputs {
		if _, seen := throughVolumes(s, o.Path); filepath.IsAbs(o.Path) && !seen {
			l = append(l, &problem.Error{
				Kind: problem.Refused, Field: fmt.Sprintf("outputs[%d].path", n),
				Text: o.Path + " is in no volume, so it goes with the container", Hint: "a volume there, or a relative path, which is in $MUSTER_OUTPUT_DIR",
			})
		}
	}
	return l
}

// throughVolumes is where, on this machine, a path of a container lies, if it
// is in a volume.
func throughVolumes(s *job.Spec, path string) (string, bool) {
	for _, name := range s.RoleNames() {
		for _, v := range s.Roles[name].Volumes {
			if rest, err := filepath.Rel(v.Path, path); err == nil && filepath.IsLocal(rest) {
				return filepath.Join(v.Source, rest), true
			}
		}
	}
	return path, false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// containerOf is how a role's containers are started, with what is meant when
// nothing is said.
func containerOf(r *job.Role) job.Container {
	var c job.Container
	if r.Container != nil {
		c = *r.Container
	}
	if c.Network == "" {
		c.Network = "host"
	}
	return c
}

// shellInImage is the image's own bash, or sh where it has none.
const shellInImage = `[ -x /bin/bash ] && exec /bin/bash -e -c "$0"; exec /bin/sh -e -c "$0"`

// contain puts a task into its role's image.
func (l *launcher) contain(to *engine.Launch, r *run.Run, s start) {
	role := r.Spec.Roles[s.Task.Role]
	c := containerOf(role)
	to.Container = &engine.Container{
		Image: role.Image.Name, Pull: role.Image.Pull, Entrypoint: c.Entrypoint, Keep: role.Run == "" && role.Command == nil,
		User: c.User, Groups: l.groups, Network: c.Network, Privileged: c.Privileged, Options: c.Options,
		Mounts: l.mounts(r, s.Instance), Shm: int64(role.Resources.Shm), GPUs: devices(r.Grant, s.Task, s.plan),
	}
	if l.private.Runtime != nil {
		to.Container.Runtime = *l.private.Runtime
	}
	if value, ok := l.private.Logins[role.Image.Auth]; ok {
		to.Container.Login, _ = engine.LoginFor(role.Image.Name, role.Image.Auth, value) // it was one when the job was submitted
	}
	if role.Run != "" {
		to.Argv = []string{"/bin/sh", "-c", shellInImage, role.Run}
	}
	if len(s.plan.Rank) > 0 {
		to.Argv = l.asRank(engine.MusterInside, s.plan, slices.Concat(c.Entrypoint, to.Argv))
		to.Container.Ranks, to.Container.Entrypoint, to.Container.Keep = true, nil, false
	}
	if role.Workdir == "" && r.Origin.Code == "" {
		to.Dir = ""
		if mountable(r.Origin.Dir) {
			to.Container.Fallback = r.Origin.Dir
		}
	}
	if c.User != "" && l.uid != 0 || c.Network != "host" {
		to.Joined = nil // it cannot be seen from outside
	}
}

// ranked says that a framework's tasks are MPI's ranks and their launcher.
func ranked(s *job.Spec) bool { return slices.Contains([]string{"mpi", "horovod"}, s.Framework.Name) }

// asRank is a command as package rank carries it out; that of a launcher is
// already in the plan.
func (l *launcher) asRank(exe string, plan rendezvous.Plan, argv []string) []string {
	if len(argv) > 0 {
		argv = append([]string{"--"}, argv...)
	}
	return slices.Concat([]string{exe, "rank", l.dir}, plan.Rank, argv)
}

// mounts are what a task in a container sees of this machine: its volumes, and
// at their own paths the run's folders and the code, or the caller's folder.
func (l *launcher) mounts(r *run.Run, i job.Instance) []engine.Mount {
	var all []engine.Mount
	for _, v := range r.Spec.Roles[i.Task.Role].Volumes {
		all = append(all, engine.Mount{Source: v.Source, Path: v.Path, ReadOnly: v.ReadOnly})
	}
	same := func(path string, readOnly bool) {
		all = append(all, engine.Mount{Source: path, Path: path, ReadOnly: readOnly})
	}
	if r.Origin.Code != "" {
		same(filepath.Join(l.dir, codeDir), false)
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
		same(filepath.Join(l.dir, inputsDir), true)
	}
	for _, in := range r.Spec.Inputs {
		if filepath.IsAbs(in.From) { // the folder has a link to it
			same(in.From, true)
		}
	}
	return append(all, l.secretMounts(&r.Spec)...)
}

func (l *launcher) secretMounts(s *job.Spec) (all []engine.Mount) {
	for name, secret := range s.Secrets {
		if secret.As == "" {
			continue
		}
		dir := filepath.Join(l.dir, secretsDir)
		if len(all) == 0 {
			all = append(all, engine.Mount{Source: dir, Path: dir, ReadOnly: true})
		}
		if filepath.IsAbs(secret.As) {
			all = append(all, engine.Mount{Source: filepath.Join(dir, secretFile(name, secret)), Path: secret.As, ReadOnly: true})
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

// renumbered is how GPUs are called in a container that has only these.
func renumbered(gpus []string) []string {
	out := make([]string, len(gpus))
	for i := range gpus {
		out[i] = strconv.Itoa(i)
	}
	return out
}

// callerGroups are those of the user that we run as, besides the first.
func callerGroups() []int {
	groups, _ := os.Getgroups()
	return slices.DeleteFunc(groups, func(g int) bool { return g == os.Getgid() })
}
