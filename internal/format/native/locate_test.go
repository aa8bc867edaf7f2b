package native

import (
	"strings"
	"testing"
)

func TestLocate(t *testing.T) {
	tests := []struct {
		name, file, sets, inGroup, path string
		where, field                    string
	}{
		{"in a role", "roles:\n  worker: {run: x, env_file: a}", "", "", "roles.worker.env_file", "f:2:30", "roles.worker.env_file"},
		{"at the top, for all roles", "run: x\nenv_file: a", "", "", "roles.worker.env_file", "f:2:11", "env_file"},
		{"a setting", "run: x", "env_file=a", "", "roles.worker.env_file", "--set env_file=a", "env_file"},
		{"under spec", "apiVersion: muster.dev/v1alpha1\nkind: Job\nspec:\n  run: x\n  env_file: a", "", "", "roles.worker.env_file", "f:5:13", "spec.env_file"},
		{"of a job of a group", "jobs:\n  a: {run: x, env_file: a}", "", "a", "roles.worker.env_file", "f:2:25", "jobs.a.env_file"},
		{"of all jobs of a group", "env_file: a\njobs:\n  a: {run: x}", "", "a", "roles.worker.env_file", "f:1:11", "jobs.a.env_file"},
		{"a job that is not there", "jobs:\n  a: {run: x}", "", "b", "run", "", ""},
		{"no file", "[", "", "", "run", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sets []string
			if tt.sets != "" {
				sets = []string{tt.sets}
			}
			where, field := Locate("f", []byte(tt.file), sets, tt.inGroup, strings.Split(tt.path, ".")...)
			if where != tt.where || field != tt.field {
				t.Errorf("%q %q, want %q %q", where, field, tt.where, tt.field)
			}
		})
	}
}
