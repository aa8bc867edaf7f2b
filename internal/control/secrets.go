//go:build linux

package control

import (
	"os"
	"path/filepath"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

const secretsDir = "secrets" // files, for the life of the run

// keepSecrets puts secrets where only the run's tasks get them: variables into
// the private environment, files into a folder that goes with the run's end.
func keepSecrets(dir string, s *job.Spec, values map[string][]byte, v *private) error {
	for name, secret := range s.Secrets {
		value, ok := values[name]
		if !ok {
			return &problem.Error{Kind: problem.Invalid, Field: "secrets." + name, Text: "has no value", Hint: "env: NAME or file: PATH says where it comes from"}
		}
		login, err := v.keepLogin(s, name, value)
		if err != nil {
			return err
		}
		if secret.As == "" {
			if !login {
				v.addToAll(s, name, string(value))
			}
			continue
		}
		path := filepath.Join(dir, secretsDir, secretFile(name, secret))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, value, 0o400); err != nil {
			return err
		}
		v.addToAll(s, "MUSTER_SECRETS_DIR", filepath.Dir(path))
	}
	return nil
}

// keepLogin keeps a secret that a registry asks for. It is not for the tasks.
func (v *private) keepLogin(s *job.Spec, name string, value []byte) (bool, error) {
	for _, image := range imagesWith(s, name) {
		if _, err := engine.LoginFor(image, name, value); err != nil {
			return true, &problem.Error{
				Kind: problem.Invalid, Field: "secrets." + name, Text: err.Error(),
				Hint: "image.auth takes user:password, or what podman login or docker login writes",
			}
		}
		if v.Logins == nil {
			v.Logins = map[string][]byte{}
		}
		v.Logins[name] = value
	}
	return v.Logins[name] != nil, nil
}

// imagesWith are the images whose registry is told a secret.
func imagesWith(s *job.Spec, secret string) (images []string) {
	for _, role := range s.RoleNames() {
		if i := s.Roles[role].Image; i != nil && i.Auth == secret {
			images = append(images, i.Name)
		}
	}
	return images
}

// secretFile is how a secret's file is called in the run's own folder. One that
// a container shows elsewhere has a place of its own.
func secretFile(name string, s job.Secret) string {
	if filepath.IsAbs(s.As) {
		return "as-" + name
	}
	return filepath.Base(s.As)
}

// addToAll sets a variable for every role.
func (v *private) addToAll(s *job.Spec, name, value string) {
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
