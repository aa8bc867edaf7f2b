package cli

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

func TestParseEnv(t *testing.T) {
	tests := []struct {
		name, in string
		want     map[string]string
		problem  string
	}{
		{name: "plain", in: "A=1\nB=two words\n", want: map[string]string{"A": "1", "B": "two words"}},
		{name: "comments and gaps", in: "# A=1\n\n  # B\nC=3", want: map[string]string{"C": "3"}},
		{name: "as a shell would", in: "export A=1\n", want: map[string]string{"A": "1"}},
		{name: "quotes", in: "A=\"x y\"\nB='z'\n", want: map[string]string{"A": "x y", "B": "z"}},
		{name: "quotes that belong to the value", in: "A=it's\nB=\"open\nC='a\"\n", want: map[string]string{"A": "it's", "B": `"open`, "C": `'a"`}},
		{name: "an equals sign in the value", in: "A=b=c\n", want: map[string]string{"A": "b=c"}},
		{name: "empty", in: "A=\nB=\"\"\n", want: map[string]string{"A": "", "B": ""}},
		{name: "the last one counts", in: "A=1\nA=2\n", want: map[string]string{"A": "2"}},
		{name: "line ends of Windows", in: "A=1\r\nB=2\r\n", want: map[string]string{"A": "1", "B": "2"}},
		{name: "no value", in: "A=1\nB\n", problem: "vars:2: is no K=V"},
		{name: "no name", in: "=1\n", problem: "vars:1: is no K=V"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseEnv("vars", []byte(tt.in))
			if tt.problem != "" {
				if err == nil || err.Error() != tt.problem {
					t.Errorf("%v, want %s", err, tt.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestRoleEnvironments(t *testing.T) {
	t.Setenv("TOKEN", "secret")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "vars"), []byte("LR=1\nFILED=x\nTOKEN=old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := run.Submission{Spec: job.Spec{Roles: map[string]*job.Role{
		"worker": {EnvFile: filepath.Join(dir, "vars"), Env: map[string]string{"LR": "2"}, EnvFrom: []string{"TOKEN"}},
		"server": {},
	}}}
	if err := lookUp(&s, nil); err != nil {
		t.Fatal(err)
	}
	// What the job file writes wins over its env_file, and stays where it is.
	want := map[string]string{"FILED": "x", "TOKEN": "secret"}
	if got := s.RoleEnv["worker"]; !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if s.RoleEnv["server"] != nil {
		t.Errorf("server got %q", s.RoleEnv["server"])
	}

	s.Spec.Roles["server"].EnvFrom = []string{"NOWHERE"}
	if err := lookUp(&s, nil); err == nil || !strings.Contains(err.Error(), "roles.server.env.NOWHERE") {
		t.Errorf("a variable that is not there: %v", err)
	}
	s.Spec.Roles["server"] = &job.Role{EnvFile: "none"}
	if err := lookUp(&s, nil); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a file that is not there: %v", err)
	}
}
