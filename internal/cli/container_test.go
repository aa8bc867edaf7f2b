package cli

import (
	"strings"
	"testing"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

func TestContainerFlags(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name   string
		o      containerOptions
		image  string // of the job afterwards
		source string // of its volume
		words  string // of the error
	}{
		{"none", containerOptions{mode: "auto"}, "train:1", "data", ""},
		{"an image", containerOptions{image: "other:2"}, "other:2", "data", ""},
		{"never", containerOptions{mode: "never"}, "", "data", ""},
		{"both", containerOptions{mode: "never", image: "x"}, "", "", "give one of them"},
		{"neither", containerOptions{mode: "docker"}, "", "", "neither auto nor never"},
		{"a mount", containerOptions{mounts: []string{"data=" + dir}}, "train:1", dir, ""},
		{"an unknown mount", containerOptions{mounts: []string{"dada=" + dir}}, "", "", `no volume "dada"`},
		{"no mount", containerOptions{mounts: []string{"data"}}, "", "", "is no NAME=DIR"},
		{"nothing to mount", containerOptions{mounts: []string{"data=" + dir + "/none"}}, "", "", "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			role := &job.Role{Image: &job.Image{Name: "train:1"}, Container: &job.Container{}, Volumes: []job.Volume{{Source: "data", Path: "/data"}}}
			s := run.Submission{Spec: job.Spec{Roles: map[string]*job.Role{"worker": role}}}
			err := c.o.apply(&s)
			if c.words != "" {
				if err == nil || !strings.Contains(err.Error(), c.words) {
					t.Fatalf("%v, want %q", err, c.words)
				}
				return
			}
			image := ""
			if role.Image != nil {
				image = role.Image.Name
			}
			if err != nil || image != c.image || role.Volumes[0].Source != c.source || (image == "") != (role.Container == nil) {
				t.Errorf("%v %+v", err, role)
			}
		})
	}
}

func TestResolveVolume(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	for source, want := range map[string]string{"data": "data", "./data": "/job/data", ".": "/job", "/srv": "/srv", "~/d": "/home/me/d"} {
		v := job.Volume{Source: source}
		if err := resolveVolume(&v, "/job"); err != nil || v.Source != want {
			t.Errorf("%s: %q, %v", source, v.Source, err)
		}
	}
}
