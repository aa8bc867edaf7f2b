package cli

import (
	"reflect"
	"slices"
	"testing"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

func TestNameFrom(t *testing.T) {
	tests := []struct {
		name, want string
		command    []string
	}{
		{"the script", "train", []string{"python", "train.py", "--lr", "0.1"}},
		{"the script after options", "train", []string{"python", "-u", "train.py"}},
		{"a path", "train-model", []string{"python3.11", "/data/jobs/train_model.py"}},
		{"the program", "trainer", []string{"/usr/bin/trainer", "join"}},
		{"a shell script", "fit", []string{"sh", "./Fit.sh"}},
		{"not an argument", "sleep", []string{"sleep", "60"}},
		{"a word that is no script ends the search", "mpirun", []string{"mpirun", "hosts", "train.py"}},
		{"signs", "a-b-c", []string{"__A++b..c__.py"}},
		{"nothing that fits", "job", []string{"___"}},
		{"too long", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", []string{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := nameFrom(tt.command); got != tt.want {
				t.Errorf("nameFrom(%q) = %q, want %q", tt.command, got, tt.want)
			}
		})
	}
}

func TestBareJob(t *testing.T) {
	tests := []struct {
		name            string
		o               runOptions
		framework, why  string
		workers, server int
	}{
		{"one worker", runOptions{workers: 1}, "plain", "", 1, 0},
		{"several", runOptions{workers: 3}, "torch", "from -n 3", 3, 0},
		{"servers", runOptions{workers: 2, servers: 1}, "mxnet", "from -s 1", 2, 1},
		{"named", runOptions{workers: 3, framework: "plain"}, "plain", "", 3, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, why, err := bareJob(tt.o, []string{"train"})
			if err != nil {
				t.Fatal(err)
			}
			if s.Framework.Name != tt.framework || why != tt.why {
				t.Errorf("framework %q because %q, want %q because %q", s.Framework.Name, why, tt.framework, tt.why)
			}
			if s.TaskCount("worker") != tt.workers || s.TaskCount("server") != tt.server {
				t.Errorf("%d workers, %d servers", s.TaskCount("worker"), s.TaskCount("server"))
			}
			for name, r := range s.Roles {
				if !slices.Equal(r.Command, []string{"train"}) {
					t.Errorf("%s runs %q", name, r.Command)
				}
			}
		})
	}
	for _, o := range []runOptions{{workers: 0}, {workers: -1}, {workers: 1, servers: -1}} {
		if _, _, err := bareJob(o, []string{"train"}); problem.KindOf(err) != problem.Invalid {
			t.Errorf("-n %d -s %d: %v", o.workers, o.servers, err)
		}
	}
}

// fromFile is a job as a file gives it.
func fromFile() run.Submission {
	return run.Submission{
		Origin: run.Origin{File: "muster.yaml"},
		Spec: job.Spec{
			Name: "digits", Framework: job.Framework{Name: "mxnet"}, Restart: job.Restart{Limit: 2},
			Roles: map[string]*job.Role{
				"server": {Replicas: 1, Run: "serve"},
				"worker": {Replicas: 2, Run: "work", Env: map[string]string{"LR": "0.1"}, EnvFrom: []string{"TOKEN"}},
			},
		},
		RoleEnv: map[string]map[string]string{"worker": {"TOKEN": "from the file"}},
	}
}

func TestOverride(t *testing.T) {
	t.Setenv("TOKEN", "mine")
	tests := []struct {
		name    string
		o       runOptions
		flags   []string // those that were given
		look    func(s run.Submission) any
		want    any
		problem string
	}{
		{name: "nothing", look: func(s run.Submission) any { return s.Spec.Restart.Limit }, want: 2},
		{name: "name", o: runOptions{name: "other"}, look: func(s run.Submission) any { return s.Spec.Name }, want: "other"},
		{name: "code", o: runOptions{code: "src"}, look: func(s run.Submission) any { return s.Spec.Code.Path }, want: "src"},
		{name: "isolation", o: runOptions{isolation: "none"}, look: func(s run.Submission) any { return s.Spec.Isolation }, want: "none"},
		{name: "no restarts", flags: []string{"restarts"}, look: func(s run.Submission) any { return s.Spec.Restart.Limit }, want: 0},
		{name: "workers", o: runOptions{workers: 5}, flags: []string{"workers"}, look: func(s run.Submission) any { return s.Spec.TaskCount("worker") }, want: 5},
		{name: "servers", o: runOptions{servers: 3}, flags: []string{"servers"}, look: func(s run.Submission) any { return s.Spec.TaskCount("server") }, want: 3},
		{name: "gpus", o: runOptions{gpus: 2}, flags: []string{"gpus"}, look: func(s run.Submission) any { return s.Spec.Roles["worker"].Resources.GPUs }, want: 2},
		{name: "gpus of others", o: runOptions{gpus: 2}, flags: []string{"gpus"}, look: func(s run.Submission) any { return s.Spec.Roles["server"].Resources.GPUs }, want: 0},
		{name: "a variable for every role", o: runOptions{env: []string{"A=b=c"}}, look: func(s run.Submission) any { return s.Spec.Roles["server"].Env["A"] }, want: "b=c"},
		{name: "a variable over the file's", o: runOptions{env: []string{"LR=1"}}, look: func(s run.Submission) any { return s.Spec.Roles["worker"].Env["LR"] }, want: "1"},
		{name: "a value over one passed on", o: runOptions{env: []string{"TOKEN=x"}}, look: func(s run.Submission) any { return s.RoleEnv["worker"] }, want: map[string]string{}},
		{name: "passed on is private", o: runOptions{env: []string{"TOKEN"}}, look: func(s run.Submission) any { return s.RoleEnv["server"] }, want: map[string]string{"TOKEN": "mine"}},
		{name: "passed on is not in the spec", o: runOptions{env: []string{"TOKEN"}}, look: func(s run.Submission) any { return s.Spec.Roles["server"].Env["TOKEN"] }, want: ""},
		{name: "passed on is named once", o: runOptions{env: []string{"TOKEN"}}, look: func(s run.Submission) any { return s.Spec.Roles["worker"].EnvFrom }, want: []string{"TOKEN"}},
		{name: "not there to pass on", o: runOptions{env: []string{"NOWHERE"}}, problem: "--env NOWHERE: there is no such variable here"},
		{name: "no name", o: runOptions{env: []string{"=x"}}, problem: "--env =x: is no K=V"},
		{name: "a bad name", o: runOptions{name: "A B"}, problem: `name: "A B" is not a DNS label (up to 63 of a-z, 0-9 and -, with no - at either end)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := fromFile()
			tt.o.changed = func(flag string) bool { return slices.Contains(tt.flags, flag) }
			err := override(&s, tt.o)
			if tt.problem != "" {
				if err == nil || err.Error() != tt.problem {
					t.Errorf("%v, want %s", err, tt.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.look(s); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// The flag means what the field of the file means.
func TestOverrideServersOfTensorFlow(t *testing.T) {
	s := fromFile()
	s.Spec.Framework.Name = "tensorflow"
	s.Spec.Roles["ps"] = s.Spec.Roles["server"]
	delete(s.Spec.Roles, "server")
	delete(s.Spec.Roles, "scheduler")
	err := override(&s, runOptions{servers: 3, changed: func(flag string) bool { return flag == "servers" }})
	if err != nil || s.Spec.TaskCount("ps") != 3 {
		t.Errorf("%d of ps, %v; want 3", s.Spec.TaskCount("ps"), err)
	}
}

func TestOverrideMissingRole(t *testing.T) {
	s := fromFile()
	delete(s.Spec.Roles, "server")
	err := override(&s, runOptions{servers: 1, changed: func(flag string) bool { return flag == "servers" }})
	if problem.KindOf(err) != problem.Invalid {
		t.Errorf("--servers of a job without any: %v", err)
	}
}
