package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// containerOptions are the flags about containers.
type containerOptions struct {
	image      string
	mode       string
	mounts     []string
	privileged bool
}

func (o *containerOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.image, "image", "", "run every task in a container of this image")
	f.StringVar(&o.mode, "container", "auto", "never: ignore images and run on this machine directly")
	f.StringArrayVar(&o.mounts, "mount", nil, "bind a volume of the job file to a folder, NAME=DIR")
	f.BoolVar(&o.privileged, "allow-privileged", false, "allow container.privileged and container.options")
}

// apply changes a job as the flags say.
func (o containerOptions) apply(s *run.Submission) error {
	switch o.mode {
	case "", "auto":
	case "never":
		if o.image != "" {
			return problem.New(problem.Invalid, "--image %s and --container never: give one of them", o.image)
		}
		dropLogins(s)
		for _, r := range s.Spec.Roles {
			r.Image, r.Container = nil, nil
		}
	default:
		return problem.New(problem.Invalid, "--container %s: is neither auto nor never", o.mode).WithHint("MUSTER_CONTAINER=podman, docker or a path chooses the runtime")
	}
	if o.image != "" {
		dropLogins(s)
		for _, r := range s.Spec.Roles {
			r.Image = &job.Image{Name: o.image}
		}
	}
	s.Origin.Privileged = o.privileged
	return bindVolumes(&s.Spec, o.mounts)
}

// dropLogins takes away the secrets that were only for the registry of an image
// that is not used: as any others, they would be given to the tasks.
func dropLogins(s *run.Submission) {
	for _, r := range s.Spec.Roles {
		if r.Image == nil || r.Image.Auth == "" || s.Spec.Secrets[r.Image.Auth].As != "" {
			continue
		}
		s.Spec.Secrets = maps.Clone(s.Spec.Secrets)
		delete(s.Spec.Secrets, r.Image.Auth)
		delete(s.Secrets, r.Image.Auth)
	}
}

// bindVolumes gives the volumes of a job that are only names their folders.
func bindVolumes(s *job.Spec, mounts []string) error {
	known := map[string][]*job.Volume{}
	for _, r := range s.Roles {
		for n := range r.Volumes {
			known[r.Volumes[n].Source] = append(known[r.Volumes[n].Source], &r.Volumes[n])
		}
	}
	for _, m := range mounts {
		name, dir, ok := strings.Cut(m, "=")
		if !ok || name == "" || dir == "" {
			return problem.New(problem.Invalid, "--mount %s: is no NAME=DIR", m)
		}
		if known[name] == nil {
			return problem.New(problem.Invalid, "--mount %s: the job has no volume %q", m, name).
				WithHint("its volumes are %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		path, err := filepath.Abs(dir)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return problem.Wrap(problem.Invalid, err, "--mount %s", m)
		}
		for _, v := range known[name] {
			v.Source = path
		}
		if firstPart(s.Checkpoint) == name {
			s.Checkpoint = filepath.Join(path, strings.TrimPrefix(s.Checkpoint, name))
		}
	}
	return nil
}

// resolveCheckpoint makes the path of a job's checkpoints absolute, unless it
// begins with a volume that is only a name.
func resolveCheckpoint(s *job.Spec, base string) error {
	if s.Checkpoint == "" || slices.Contains(volumeNames(s), firstPart(s.Checkpoint)) {
		return nil
	}
	path, err := atHome(s.Checkpoint)
	s.Checkpoint = pathIn(base, path)
	return err
}

// volumeNames are the volumes of a job that have no folder yet.
func volumeNames(s *job.Spec) (names []string) {
	for _, r := range s.Roles {
		for _, v := range r.Volumes {
			if isName(v.Source) {
				names = append(names, v.Source)
			}
		}
	}
	return names
}

func isName(source string) bool { return source != "." && !strings.Contains(source, "/") }

func firstPart(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

// resolveVolume makes a volume's source absolute, unless it is a name.
func resolveVolume(v *job.Volume, base string) error {
	if isName(v.Source) {
		return nil
	}
	path, err := atHome(v.Source)
	v.Source = pathIn(base, path)
	return err
}
