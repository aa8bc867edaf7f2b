//go:build linux

package control

import (
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/job"
)

// What an engine cannot honour is refused, and what it can is not.
func TestUnsupported(t *testing.T) {
	for _, c := range []struct {
		name string
		spec job.Spec
		can  capabilities
		want string
	}{
		{"an image", job.Spec{Roles: map[string]*job.Role{"worker": {Replicas: 1, Image: &job.Image{Name: "i"}, Run: "x"}}}, capabilities{Containers: true}, "roles.worker.image"},
		{"a limit on silence", job.Spec{Limits: job.Limits{Stall: job.Duration(time.Minute)}}, capabilities{Silence: true}, "limits.stall"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if l := unsupported(&c.spec, c.can); len(l) > 0 {
				t.Errorf("refused by an engine that can: %v", l)
			}
			if l := unsupported(&c.spec, capabilities{Name: "other"}); len(l) != 1 || l[0].Field != c.want || !strings.HasPrefix(l[0].Text, "other ") {
				t.Errorf("got %v, want a problem with %s", l, c.want)
			}
		})
	}
}
