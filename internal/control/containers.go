//go:build linux

package control

import (
	"fmt"
	"os"
	"path/filepath"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
)

// findRuntime chooses what makes the containers of a job that has images, and
// remembers it for all owners of the run.
func (p *Plane) findRuntime(r *run.Run, env []string, v *launch.Private) error {
	if !r.Spec.HasImage() {
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
		c := r.ContainerOr()
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
	if !s.HasImage() {
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

// ranked says that a framework's tasks are MPI's ranks and their launcher.
func ranked(s *job.Spec) bool { return rendezvous.FactsOf(s.Framework.Name).Ranks }
