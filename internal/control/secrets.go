//go:build linux

package control

import (
	"os"
	"path/filepath"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/problem"
)

// keepSecrets puts secrets where only the run's tasks get them: variables into
// the private environment, files into a folder that goes with the run's end.
func keepSecrets(dir string, s *job.Spec, values map[string][]byte, v *launch.Private) error {
	for name, secret := range s.Secrets {
		value, ok := values[name]
		if !ok {
			return &problem.Error{Kind: problem.Invalid, Field: "secrets." + name, Text: "has no value", Hint: "env: NAME or file: PATH says where it comes from"}
		}
		login, err := keepLogin(v, s, name, value)
		if err != nil {
			return err
		}
		if secret.As == "" {
			if !login {
				v.AddToAll(s, name, string(value))
			}
			continue
		}
		path := filepath.Join(dir, launch.SecretsDir, launch.SecretFile(name, secret))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, value, 0o400); err != nil {
			return err
		}
		v.AddToAll(s, "MUSTER_SECRETS_DIR", filepath.Dir(path))
	}
	return nil
}

// keepLogin keeps a secret that a registry asks for. It is not for the tasks.
func keepLogin(v *launch.Private, s *job.Spec, name string, value []byte) (bool, error) {
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
