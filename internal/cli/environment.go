package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// roleEnvironments resolves what a job file leaves to the submitting machine:
// variables passed on by name, and files of variables. Their values may be
// secret, so they go beside the spec, never into it.
func roleEnvironments(s *run.Submission, base string) error {
	for name, r := range s.Spec.Roles {
		values := map[string]string{}
		if r.EnvFile != "" {
			path := r.EnvFile
			if !filepath.IsAbs(path) {
				path = filepath.Join(base, path)
			}
			if err := readEnvFile(path, values); err != nil {
				return err
			}
		}
		for _, k := range r.EnvFrom {
			v, ok := os.LookupEnv(k)
			if !ok {
				return &problem.Error{Kind: problem.Invalid, Field: "roles." + name + ".env." + k, Text: "is taken from your environment, which does not have it", Hint: "export " + k}
			}
			values[k] = v
		}
		if len(values) > 0 {
			if s.RoleEnv == nil {
				s.RoleEnv = map[string]map[string]string{}
			}
			s.RoleEnv[name] = values
		}
	}
	return nil
}

// readEnvFile reads lines of K=V; # begins a comment line.
func readEnvFile(path string, into map[string]string) error {
	f, err := os.Open(path)
	if err != nil {
		return problem.Wrap(problem.Invalid, err, "read env_file")
	}
	defer f.Close()
	data, err := readAtMost(f, maxJobFile)
	if err != nil {
		return problem.Wrap(problem.Invalid, err, "read env_file %s", path)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxJobFile+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		k, v, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if !ok || k == "" {
			return &problem.Error{Kind: problem.Invalid, Where: fmt.Sprintf("%s:%d", path, n), Text: "is no K=V"}
		}
		into[k] = strings.Trim(v, `"'`)
	}
	return nil
}

// readAtMost reads all of f, which may not be longer than limit.
func readAtMost(f io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it is longer than %d bytes", limit)
	}
	return data, err
}
