package rendezvous

import (
	"slices"
	"strings"
	"testing"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

func TestInfer(t *testing.T) {
	for _, tt := range []struct {
		name             string
		servers, workers int
		framework, why   string
	}{
		{"servers mean mxnet", 1, 2, "mxnet", "from -s 1"},
		{"servers decide before workers", 3, 1, "mxnet", "from -s 3"},
		{"several workers mean torch", 0, 4, "torch", "from -n 4"},
		{"one worker is plain", 0, 1, "plain", ""},
		{"no worker is plain", 0, 0, "plain", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			framework, why := Infer(tt.servers, tt.workers)
			if framework != tt.framework || why != tt.why {
				t.Errorf("Infer(%d, %d) = %q, %q; want %q, %q", tt.servers, tt.workers, framework, why, tt.framework, tt.why)
			}
		})
	}
}

func TestByName(t *testing.T) {
	for _, name := range job.Frameworks {
		f, err := ByName(name)
		if err != nil || f.Facts().Name != name {
			t.Errorf("ByName(%q) = %v, %v", name, f, err)
		}
	}
	for _, tt := range []struct {
		name string
		kind problem.Kind
		text string
	}{
		{"mxnett", problem.Invalid, `framework: "mxnett" is not a framework; there are mxnet, byteps, torch, jax, tensorflow, mpi, horovod, tvm, plain; did you mean "mxnet"?`},
		{"", problem.Invalid, `framework: "" is not a framework; there are mxnet, byteps, torch, jax, tensorflow, mpi, horovod, tvm, plain`},
	} {
		t.Run("refuses "+tt.name, func(t *testing.T) {
			_, err := ByName(tt.name)
			if err == nil || err.Error() != tt.text || problem.KindOf(err) != tt.kind {
				t.Errorf("ByName(%q): %v (%s); want %s (%s)", tt.name, err, problem.KindOf(err), tt.text, tt.kind)
			}
		})
	}
}

func TestHelpersAreNotWhatSuccessWaitsFor(t *testing.T) {
	for _, f := range frameworks {
		facts := f.Facts()
		if slices.Contains(facts.Helpers, facts.Success) || len(facts.Helpers) > 0 && facts.Success == "all" {
			t.Errorf("%s waits for its helpers: %+v", facts.Name, facts)
		}
	}
}

func TestCompleteAddsTheScheduler(t *testing.T) {
	s := mx(func(s *job.Spec) {
		s.Roles["worker"].Resources.GPUs = 2
		s.Roles["worker"].Env = map[string]string{"A": "1"}
		s.Roles["worker"].Workdir = "src"
		s.Roles["server"].Run = ""
		delete(s.Roles, "scheduler")
	})
	Complete(s)
	Complete(s)
	for _, role := range []string{"scheduler", "server"} {
		r := s.Roles[role]
		if r == nil || r.Replicas != 1 || r.Run != "python train.py" || r.Workdir != "src" || r.Resources.GPUs != 0 {
			t.Errorf("%s is %+v", role, r)
		}
	}
	s.Roles["scheduler"].Env["A"] = "2"
	if s.Roles["worker"].Env["A"] != "1" {
		t.Error("the scheduler shares the worker's env")
	}
}

func TestCompleteKeepsWhatTheJobSays(t *testing.T) {
	s := mx(func(s *job.Spec) {
		s.Roles["server"].Run = "python serve.py"
		s.Roles["scheduler"] = &job.Role{Replicas: 1, Command: []string{"sched"}}
	})
	Complete(s)
	if got := s.Roles["server"].Run; got != "python serve.py" {
		t.Errorf("the server runs %q", got)
	}
	if r := s.Roles["scheduler"]; r.Run != "" || r.Command[0] != "sched" {
		t.Errorf("the scheduler is %+v", r)
	}
}

func TestCompleteLeavesOtherFrameworksAlone(t *testing.T) {
	for _, name := range []string{"plain", "torch", "jax", "nonsense"} {
		s := mx(func(s *job.Spec) { s.Framework.Name = name; delete(s.Roles, "scheduler") })
		Complete(s)
		if s.Roles["scheduler"] != nil {
			t.Errorf("%s got a scheduler", name)
		}
	}
}

func TestCompleteAddsTheLauncher(t *testing.T) {
	s := as("mpi", map[string]*job.Role{"worker": {
		Replicas: 2, Procs: "2", Run: "x", Workdir: "src", Env: map[string]string{"A": "1"}, Resources: job.Resources{GPUs: 2},
	}})
	Complete(s)
	Complete(s)
	r := s.Roles["launcher"]
	if r == nil || s.TaskCount("launcher") != 1 || r.Run != "" || r.Workdir != "src" || r.Env["A"] != "1" || r.Resources.GPUs != 0 {
		t.Errorf("the launcher is %+v", r)
	}
	if s.TaskCount("worker") != 4 {
		t.Errorf("there are %d ranks", s.TaskCount("worker"))
	}
}

func TestCompleteNamesRolesAsTheFrameworkDoes(t *testing.T) {
	for _, tt := range []struct {
		spec    *job.Spec
		roles   []string
		success string
	}{
		{as("tvm", map[string]*job.Role{"worker": {Replicas: 1}, "server": {Replicas: 1}}), []string{"tracker", "server", "tuner"}, ""},
		{as("tensorflow", map[string]*job.Role{"worker": {Replicas: 1}, "server": {Replicas: 1}}), []string{"ps", "worker"}, ""},
		{as("tensorflow", map[string]*job.Role{"worker": {Replicas: 1}, "chief": {Replicas: 1}}), []string{"chief", "worker"}, "chief"},
	} {
		Complete(tt.spec)
		Complete(tt.spec)
		if got := tt.spec.RoleNames(); !slices.Equal(got, tt.roles) || tt.spec.Success != tt.success {
			t.Errorf("%s: roles %v, success %q; want %v, %q", tt.spec.Framework.Name, got, tt.spec.Success, tt.roles, tt.success)
		}
	}
}

func TestStrip(t *testing.T) {
	in := []string{
		"PATH=/bin", "DMLC_ROLE=server", "PS_VERBOSE=1", "PORT=80", "RANK=1", "MASTER_ADDR=h",
		"OMPI_COMM_WORLD_RANK=0", "PMIX_RANK=0", "TF_CONFIG={}", "MUSTER_RUN=a-1", "MUSTER_STATE_DIR=/s",
		"TORCHELASTIC_RUN_ID=x", "PORTS=1", "PS1=$", "DIGITS=d", "EMPTY=",
	}
	before := slices.Clone(in)
	want := []string{"PATH=/bin", "MUSTER_STATE_DIR=/s", "PORTS=1", "PS1=$", "DIGITS=d", "EMPTY="}
	if got := Strip(in); !slices.Equal(got, want) {
		t.Errorf("Strip left %q; want %q", got, want)
	}
	if !slices.Equal(in, before) {
		t.Error("Strip changed its argument")
	}
}

func TestWhatIsSetIsNeverInherited(t *testing.T) {
	for _, name := range slices.Concat(identity, mxnetVars, bytepsVars, torchVars, jaxVars, tensorflowVars, mpiVars, horovodVars, horovodRanks, tvmVars) {
		if !Reserved(name) {
			t.Errorf("%s is set by a rendezvous and would be inherited where it is not", name)
		}
	}
}

func TestLaunchNeedsThePlaces(t *testing.T) {
	for _, tt := range []struct {
		name    string
		spec    *job.Spec
		cluster Cluster
		want    string
	}{
		{"mxnet without its scheduler", mx(nil), Cluster{worker(0): {"127.0.0.1", []int{1}}}, "no address is known for scheduler-0"},
		{"mxnet without a port", mx(nil), Cluster{psliteScheduler: {"127.0.0.1", nil}}, "scheduler-0 holds 0 of 1 ports"},
		{"mxnet scheduler at a name", mx(nil), Cluster{psliteScheduler: {"h1", []int{1}}}, "scheduler-0 is at h1, and MXNet's scheduler binds only an IPv4 address"},
		{"mxnet without the task itself", mx(nil), Cluster{psliteScheduler: {"127.0.0.1", []int{1}}}, "no address is known for worker-0"},
		{"torch without rank 0", pt(nil), Cluster{worker(1): {"127.0.0.1", nil}}, "no address is known for worker-0"},
		{"byteps with two workers on one machine", as("byteps", map[string]*job.Role{"scheduler": {Replicas: 1}, "server": {Replicas: 1}, "worker": {Replicas: 2}}),
			Cluster{psliteScheduler: {"127.0.0.1", []int{1}}, worker(0): {"127.0.0.1", []int{2}}, worker(1): {"127.0.0.1", []int{3}}},
			"worker-1 and worker-0 are two BytePS workers on one machine"},
		{"tensorflow without a member", as("tensorflow", map[string]*job.Role{"worker": {Replicas: 2}}),
			Cluster{worker(0): {"127.0.0.1", []int{2}}}, "no address is known for worker-1"},
		{"mpi without its launcher", as("mpi", map[string]*job.Role{"worker": {Replicas: 1}}), Cluster{worker(0): {"127.0.0.1", nil}}, "no address is known for launcher-0"},
		{"mpi on two machines", as("mpi", map[string]*job.Role{"worker": {Replicas: 1}}),
			Cluster{{Role: "launcher"}: {"h1", nil}, worker(0): {"h2", nil}}, "worker-0 is at h2 and the launcher at h1"},
		{"torch without another rank", pt(nil), Cluster{worker(0): {"127.0.0.1", []int{1}}}, "no address is known for worker-1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, _ := ByName(tt.spec.Framework.Name)
			_, err := f.Launch(tt.spec, tt.cluster, worker(0))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Launch: %v; want %s", err, tt.want)
			}
		})
	}
}

func worker(i int) job.Task { return job.Task{Role: "worker", Index: i} }

// mx returns a sound job of one scheduler, one server and two workers, changed.
func mx(change func(*job.Spec)) *job.Spec {
	role := func(n int) *job.Role { return &job.Role{Replicas: n, Run: "python train.py"} }
	s := &job.Spec{
		Framework: job.Framework{Name: "mxnet"},
		Roles:     map[string]*job.Role{"scheduler": role(1), "server": role(1), "worker": role(2)},
	}
	if change != nil {
		change(s)
	}
	return s
}

// pt returns a sound torch job of two workers, changed.
func pt(change func(*job.Spec)) *job.Spec {
	s := &job.Spec{
		Framework: job.Framework{Name: "torch"},
		Roles:     map[string]*job.Role{"worker": {Replicas: 2, Run: "python ddp.py"}},
	}
	if change != nil {
		change(s)
	}
	return s
}
