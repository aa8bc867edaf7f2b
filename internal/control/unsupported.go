//go:build linux

package control

import (
	"fmt"
	"path/filepath"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/problem"
)

type capabilities = engine.Capabilities

// unsupported lists what a job asks and this engine cannot honour. Nothing that
// a user wrote is ignored in silence.
func unsupported(s *job.Spec, c capabilities) problem.List {
	var l problem.List
	refuse := func(asked bool, field, text, hint string) {
		if asked {
			l = append(l, &problem.Error{Kind: problem.Refused, Field: field, Text: text, Hint: hint})
		}
	}
	for name, secret := range s.Secrets {
		refuse(secret.Kubernetes != "", "secrets."+name+".kubernetes", "there is no Kubernetes here", "take it from env or file")
		refuse(filepath.IsAbs(secret.As) && !s.HasImage(), "secrets."+name+".as", "an absolute path needs a container", "as: NAME, and the file is $MUSTER_SECRETS_DIR/NAME")
	}
	refuse(s.Limits.Stall != 0 && !c.Silence, "limits.stall", c.Name+" cannot see that a task is silent", "limits.run ends a run that takes too long")
	for _, name := range s.RoleNames() {
		r, at := s.Roles[name], "roles."+name+"."
		refuse(r.Image != nil && !c.Containers, at+"image", fmt.Sprintf("%s runs no containers yet", c.Name), "remove it to run the command directly on this machine")
	}
	return append(l, launch.Faults(s)...)
}
