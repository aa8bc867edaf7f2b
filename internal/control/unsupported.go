//go:build linux

package control

import (
	"fmt"
	"path/filepath"
	"slices"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
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
		refuse(filepath.IsAbs(secret.As) && !hasImage(s), "secrets."+name+".as", "an absolute path needs a container", "as: NAME, and the file is $MUSTER_SECRETS_DIR/NAME")
	}
	for _, name := range s.RoleNames() {
		r, at := s.Roles[name], "roles."+name+"."
		refuse(r.Image != nil && !c.Containers, at+"image", fmt.Sprintf("%s runs no containers yet", c.Name), "remove it to run the command directly on this machine")
	}
	return slices.Concat(l, setupFaults(s), portFaults(s), healthFaults(s))
}

func hasImage(s *job.Spec) bool {
	for _, r := range s.Roles {
		if r.Image != nil {
			return true
		}
	}
	return false
}
