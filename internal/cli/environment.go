package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// roleEnvironments resolves what a job file leaves to the submitting machine:
// variables passed on by name, and files of variables. Their values may be
// secret, so they go beside the spec, never into it.
func roleEnvironments(s *run.Submission) (wrong []misfit) {
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Roles)) {
		r := s.Spec.Roles[name]
		if r.EnvFile != "" {
			values, err := readEnvFile(r.EnvFile)
			if err != nil {
				wrong = append(wrong, misfit{[]string{"roles", name, "env_file"}, err})
			}
			for k, v := range values {
				if _, written := r.Env[k]; !written { // env wins over env_file
					setPrivate(s, name, k, v)
				}
			}
		}
		for _, k := range r.EnvFrom {
			v, ok := os.LookupEnv(k)
			if !ok {
				e := &problem.Error{Text: "is taken from your environment, which does not have it", Hint: "export " + k}
				wrong = append(wrong, misfit{[]string{"roles", name, "env", k}, e})
				continue
			}
			setPrivate(s, name, k, v)
		}
	}
	return wrong
}

// setPrivate gives a role a variable whose value stays out of the record.
func setPrivate(s *run.Submission, role, k, v string) {
	if s.RoleEnv == nil {
		s.RoleEnv = map[string]map[string]string{}
	}
	if s.RoleEnv[role] == nil {
		s.RoleEnv[role] = map[string]string{}
	}
	s.RoleEnv[role][k] = v
}

// setFlags applies --env: K=V is written into every role, K is passed on and,
// as nobody has written its value down, kept private.
func setFlags(s *run.Submission, flags []string) error {
	for _, kv := range flags {
		k, v, given := strings.Cut(kv, "=")
		if k == "" {
			return problem.New(problem.Invalid, "--env %s: is no K=V", kv)
		}
		if !given {
			var ok bool
			if v, ok = os.LookupEnv(k); !ok {
				return problem.New(problem.Invalid, "--env %s: there is no such variable here", k).WithHint("--env %s=VALUE", k)
			}
		}
		for name, r := range s.Spec.Roles {
			forget(s, name, k)
			if !given {
				r.EnvFrom = append(r.EnvFrom, k)
				setPrivate(s, name, k, v)
				continue
			}
			if r.Env == nil {
				r.Env = map[string]string{}
			}
			r.Env[k] = v
		}
	}
	return nil
}

// forget drops what a job file says of a variable.
func forget(s *run.Submission, role, k string) {
	r := s.Spec.Roles[role]
	delete(r.Env, k)
	delete(s.RoleEnv[role], k)
	r.EnvFrom = slices.DeleteFunc(r.EnvFrom, func(name string) bool { return name == k })
}

// readEnvFile reads lines of K=V; # begins a comment line.
func readEnvFile(path string) (map[string]string, *problem.Error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &problem.Error{Text: err.Error()}
	}
	defer f.Close()
	data, err := readAtMost(f, maxJobFile)
	if err != nil {
		return nil, &problem.Error{Text: path + ": " + err.Error()}
	}
	return parseEnv(path, data)
}

func parseEnv(path string, data []byte) (map[string]string, *problem.Error) {
	values := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxJobFile+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		k, v, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if k = strings.TrimSpace(k); !ok || k == "" {
			return nil, &problem.Error{Kind: problem.Invalid, Where: fmt.Sprintf("%s:%d", path, n), Text: "is no K=V"}
		}
		values[k] = unquoted(strings.TrimSpace(v))
	}
	return values, nil
}

// unquoted takes away one pair of quotes around the whole.
func unquoted(v string) string {
	if n := len(v); n >= 2 && v[0] == v[n-1] && (v[0] == '"' || v[0] == '\'') {
		return v[1 : n-1]
	}
	return v
}

// readAtMost reads all of f, which may not be longer than limit.
func readAtMost(f io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it is longer than %d bytes", limit)
	}
	return data, err
}
