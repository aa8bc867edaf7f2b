package cli

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// resolvePaths makes the paths that a job file has of this machine absolute:
// they are relative to the file, not to the caller.
func resolvePaths(s *job.Spec, base string) error {
	if s.Code != nil {
		resolveCode(s.Code, base)
	}
	for i := range s.Inputs {
		if from := &s.Inputs[i].From; !strings.Contains(*from, "://") {
			*from = pathIn(base, *from)
		}
	}
	for i := range s.Outputs {
		if to := &s.Outputs[i].To; *to != "" {
			*to = pathIn(base, *to)
		}
	}
	if err := resolveCheckpoint(s, base); err != nil {
		return err
	}
	for _, r := range s.Roles {
		if r.EnvFile != "" {
			r.EnvFile = pathIn(base, r.EnvFile)
		}
		for n := range r.Volumes {
			if err := resolveVolume(&r.Volumes[n], base); err != nil {
				return err
			}
		}
	}
	for name, secret := range s.Secrets {
		if secret.File == "" {
			continue
		}
		file, err := atHome(secret.File)
		if err != nil {
			return err
		}
		secret.File = pathIn(base, file)
		s.Secrets[name] = secret
	}
	return nil
}

// pathIn is a path seen from a folder.
func pathIn(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// atHome replaces a ~ at the beginning: keys are kept at home.
func atHome(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, rest), err
}

// readSecrets reads the values of a job's secrets on this machine. They go
// beside the spec, never into it.
func readSecrets(s *run.Submission) (wrong []misfit) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Secrets)) {
		secret := s.Spec.Secrets[name]
		value, e := secretValue(secret)
		if e != nil {
			from := "env"
			if secret.Env == "" {
				from = "file"
			}
			wrong = append(wrong, misfit{[]string{"secrets", name, from}, e})
			continue
		}
		if s.Secrets == nil {
			s.Secrets = map[string][]byte{}
		}
		s.Secrets[name] = value
	}
	return wrong
}

func secretValue(secret job.Secret) ([]byte, *problem.Error) {
	switch {
	case secret.Env != "":
		v, ok := os.LookupEnv(secret.Env)
		if !ok {
			return nil, &problem.Error{Text: "your environment has no " + secret.Env, Hint: "export " + secret.Env}
		}
		return []byte(v), nil
	case secret.File != "":
		return secretFile(secret)
	}
	return nil, nil // for an engine that has it; others refuse it
}

func secretFile(secret job.Secret) ([]byte, *problem.Error) {
	f, err := os.Open(secret.File)
	if err != nil {
		return nil, &problem.Error{Text: err.Error()}
	}
	defer f.Close()
	data, err := readAtMost(f, maxJobFile)
	if err != nil {
		return nil, &problem.Error{Text: secret.File + ": " + err.Error()}
	}
	if secret.As != "" {
		return data, nil
	}
	// A variable has no use for the newline at the end of a file, and cannot
	// have what no variable can have.
	data = bytes.TrimSuffix(bytes.TrimSuffix(data, []byte("\n")), []byte("\r"))
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, &problem.Error{Text: secret.File + " has a NUL character, which no variable can have", Hint: "as: NAME makes it a file in the task"}
	}
	return data, nil
}
