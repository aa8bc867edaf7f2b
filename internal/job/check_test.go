package job

import (
	"strings"
	"testing"
)

// fine returns a spec that breaks no rule.
func fine() *Spec {
	return &Spec{
		Name:      "mnist",
		Framework: Framework{Name: "mxnet"},
		Roles: map[string]*Role{
			"scheduler": {Replicas: 1},
			"server":    {Replicas: 2},
			"worker":    {Replicas: 2, Run: "python train.py"},
		},
	}
}

func TestCheckAcceptsWhatIsFine(t *testing.T) {
	if faults := Check(fine()); len(faults) > 0 {
		t.Errorf("got %v", faults)
	}
}

func TestCheck(t *testing.T) {
	worker := func(change func(*Role)) func(*Spec) {
		return func(s *Spec) { change(s.Roles["worker"]) }
	}
	tests := []struct {
		name   string
		change func(*Spec)
		want   string // start of the only fault
	}{
		{"a name with capitals", func(s *Spec) { s.Name = "Mnist" }, `name: "Mnist" is not a DNS label`},
		{"a name that is too long", func(s *Spec) { s.Name = strings.Repeat("a", 64) }, `name: "aaa`},
		{"a name that ends with a dash", func(s *Spec) { s.Name = "a-" }, `name: "a-" is not`},
		{"no framework", func(s *Spec) { s.Framework.Name = ""; s.Roles["server"].Run = "x"; s.Roles["scheduler"].Run = "x" }, "framework.name: is needed"},
		{"an unknown role", func(s *Spec) { s.Roles["wroker"] = &Role{Replicas: 1, Run: "x"} }, `roles.wroker: framework mxnet has no role "wroker"`},
		{"negative replicas", worker(func(r *Role) { r.Replicas = -1 }), "roles.worker.replicas: must be at least 0, is -1"},
		{"too many replicas", worker(func(r *Role) { r.Replicas = 10001 }), "roles.worker.replicas: must be at most 10000"},
		{"more tasks than there may be", worker(func(r *Role) { r.Replicas, r.Procs = 5000, "3" }), "roles.worker.procs: 5000 replicas of 3 processes are more than 10000 tasks"},
		{"procs in words", worker(func(r *Role) { r.Procs = "two" }), `roles.worker.procs: "two" is neither`},
		{"run and command", worker(func(r *Role) { r.Command = []string{"x"} }), "roles.worker.run: run cannot be given together"},
		{"args without image", worker(func(r *Role) { r.Run, r.Args = "", []string{"x"} }), "roles.worker.args: args alone need an image"},
		{"a program without name", worker(func(r *Role) { r.Run, r.Command = "", []string{""} }), "roles.worker.command[0]: is empty"},
		{"a bad variable", worker(func(r *Role) { r.Env = map[string]string{"A B": ""} }), `roles.worker.env.A B: "A B" is not a variable name`},
		{"a bad inherited variable", worker(func(r *Role) { r.EnvFrom = []string{"A=B"} }), `roles.worker.env.A=B: "A=B" is not a variable name`},
		{"an image without name", worker(func(r *Role) { r.Image = &Image{} }), "roles.worker.image.name: is needed"},
		{"an image with an unknown secret", worker(func(r *Role) { r.Image = &Image{Name: "i", Auth: "A"} }), `roles.worker.image.auth: "A" is not one of`},
		{"a port out of range", worker(func(r *Role) { r.Ports = []int{80, 65536} }), "roles.worker.ports[1]: must be at most 65535"},
		{"a volume without path", worker(func(r *Role) { r.Volumes = []Volume{{Source: "a"}} }), "roles.worker.volumes[0].path: is needed"},
		{"an empty probe", worker(func(r *Role) { r.Health = &Health{} }), "roles.worker.health: give one of http, tcp, command"},
		{"pack and spread", worker(func(r *Role) { r.Place = &Place{Pack: "node", Spread: true} }), "roles.worker.place.spread: pack and spread"},
		{"a role's scope", worker(func(r *Role) { r.Restart = &RoleRestart{Scope: "all"} }), `roles.worker.restart.scope: "all" is not one of`},
		{"negative cpus", worker(func(r *Role) { r.Resources.CPUs = -1 }), "roles.worker.resources.cpus: must not be negative"},
		{"negative gpus", worker(func(r *Role) { r.Resources.GPUs = -1 }), "roles.worker.resources.gpus: must be at least 0"},
		{"code of nowhere", func(s *Spec) { s.Code = &Code{} }, "code: needs a path, or git"},
		{"code outside its repository", func(s *Spec) { s.Code = &Code{Path: "../a", Git: "b"} }, "code.path: \"../a\" leads out of the repository"},
		{"an input from nowhere", func(s *Spec) { s.Inputs = []Input{{Name: "a"}} }, "inputs[0].from: is needed"},
		{"an output at a wrong time", func(s *Spec) { s.Outputs = []Output{{Path: "a", When: "never"}} }, `outputs[0].when: "never" is not one of`},
		{"a secret that is no variable", func(s *Spec) { s.Secrets = map[string]Secret{"a.b": {File: "f"}} }, `secrets.a.b: "a.b" is not a variable name`},
		{"success of an unknown role", func(s *Spec) { s.Success = "boss" }, `success: "boss" is not one of all, any, none, scheduler, server, worker`},
		{"a negative restart limit", func(s *Spec) { s.Restart.Limit = -1 }, "restart.limit: must be at least 0"},
		{"an exit code out of range", func(s *Spec) { s.Restart.Codes = &Codes{Permanent: []int{256}} }, "restart.codes.permanent[0]: must be at most 255"},
		{"a signal with its prefix", func(s *Spec) { s.Stop.Signal = "SIGTERM" }, `stop.signal: "SIGTERM" is not one of`},
		{"a clean-up of some tasks", func(s *Spec) { s.Cleanup.Tasks = "some" }, `cleanup.tasks: "some" is not one of`},
		{"a negative log limit", func(s *Spec) { s.Logs.Limit = -1 }, "logs.limit: must not be negative"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := fine()
			tt.change(s)
			faults := Check(s)
			if len(faults) != 1 || !strings.HasPrefix(faults[0].String(), tt.want) {
				t.Errorf("got %v, want one: %s", faults, tt.want)
			}
		})
	}
}

func TestCheckKnowsWhoBringsACommand(t *testing.T) {
	for framework, role := range map[string]string{"mxnet": "server", "byteps": "scheduler", "tensorflow": "ps", "tvm": "server", "mpi": "launcher"} {
		s := &Spec{Framework: Framework{Name: framework}, Roles: map[string]*Role{"worker": {Replicas: 1, Run: "x"}, role: {Replicas: 1}}}
		if faults := Check(s); len(faults) > 0 {
			t.Errorf("%s with a %s: got %v", framework, role, faults)
		}
	}
}

func TestCheckLetsPlainNameItsRoles(t *testing.T) {
	s := &Spec{Framework: Framework{Name: "plain"}, Success: "boss", Roles: map[string]*Role{"boss": {Replicas: 1, Run: "x"}}}
	if faults := Check(s); len(faults) > 0 {
		t.Errorf("got %v", faults)
	}
}

func TestCheckNamesWhatWouldBeRight(t *testing.T) {
	s := fine()
	s.Framework.Name = "mxnte"
	f := Check(s)[0]
	if f.Word != "mxnte" || len(f.Known) != len(Frameworks) {
		t.Errorf("got word %q and %v", f.Word, f.Known)
	}
}

func TestCheckStopsCounting(t *testing.T) {
	s := fine()
	for i := range 2 * maxFaults {
		s.Roles["worker"].Ports = append(s.Roles["worker"].Ports, -i)
	}
	if n := len(Check(s)); n != maxFaults {
		t.Errorf("got %d faults, want %d", n, maxFaults)
	}
}
