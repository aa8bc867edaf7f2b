package launch

import (
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

// Private is what a run is given beside its record: it is never stored there,
// as it may hold secrets.
type Private struct {
	Env     []string                     `json:"env"`
	RoleEnv map[string]map[string]string `json:"role_env,omitempty"`
	Runtime *engine.Runtime              `json:"runtime,omitempty"` // makes its containers
	Logins  map[string][]byte            `json:"logins,omitempty"`  // for registries, by secret
}

// AddToAll sets a variable for every role.
func (v *Private) AddToAll(s *job.Spec, name, value string) {
	if v.RoleEnv == nil {
		v.RoleEnv = map[string]map[string]string{}
	}
	for role := range s.Roles {
		if v.RoleEnv[role] == nil {
			v.RoleEnv[role] = map[string]string{}
		}
		v.RoleEnv[role][name] = value
	}
}
