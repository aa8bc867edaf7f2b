package rendezvous

import (
	"testing"
	"time"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name string
		spec *job.Spec
		want string // empty: sound
	}{
		{"mxnet, sound", mx(nil), ""},
		{"torch, sound", pt(nil), ""},
		{"plain takes any role and scope", pt(func(s *job.Spec) {
			s.Framework.Name = "plain"
			s.Roles["cook"] = &job.Role{Replicas: 1, Env: map[string]string{"RANK": "chef"}}
			s.Restart.Scope = "task"
		}), ""},
		{"a role without tasks is no matter", pt(func(s *job.Spec) { s.Roles["server"] = &job.Role{} }), ""},

		{"mxnet without servers", mx(func(s *job.Spec) { s.Roles["server"].Replicas = 0 }),
			"roles.server.replicas: must be at least 1 for mxnet, is 0"},
		{"mxnet without workers", mx(func(s *job.Spec) { delete(s.Roles, "worker") }),
			"roles.worker.replicas: must be at least 1 for mxnet, is 0"},
		{"mxnet with two schedulers", mx(func(s *job.Spec) { s.Roles["scheduler"].Replicas = 2 }),
			"roles.scheduler.replicas: must be 1 for mxnet, is 2"},
		{"mxnet with a stranger", mx(func(s *job.Spec) { s.Roles["tuner"] = &job.Role{Replicas: 1} }),
			"roles.tuner: mxnet has no such role; it knows scheduler, server, worker"},
		{"torch with servers", pt(func(s *job.Spec) { s.Roles["server"] = &job.Role{Replicas: 1} }),
			"roles.server: torch has no such role; it knows worker"},
		{"torch without workers", pt(func(s *job.Spec) { s.Roles["worker"].Replicas = 0 }),
			"roles.worker.replicas: must be at least 1 for torch, is 0"},
		{"plain without tasks", pt(func(s *job.Spec) { s.Framework.Name = "plain"; s.Roles = nil }),
			"roles: no role has a task"},
		{"several processes per replica of torch", pt(func(s *job.Spec) { s.Roles["worker"].Procs = "gpus" }), ""},
		{"several processes per replica of mxnet", mx(func(s *job.Spec) { s.Roles["worker"].Procs = "2" }),
			"roles.worker.procs: mxnet has one process per replica, is 2"},

		{"mxnet, restart of one task", mx(func(s *job.Spec) { s.Restart.Scope = "task" }),
			"restart.scope: must be job for mxnet, is task: MXNet cannot take a member back"},
		{"torch, restart of one role", pt(func(s *job.Spec) { s.Roles["worker"].Restart = &job.RoleRestart{Scope: "role"} }),
			"roles.worker.restart.scope: must be job for torch, is role: a torch process group cannot take a member back"},

		{"an option of another framework", pt(func(s *job.Spec) { s.Framework.Van = "p3" }),
			"framework.van: not an option of torch; it has port, interface"},
		{"an option for plain", pt(func(s *job.Spec) { s.Framework = job.Framework{Name: "plain", Port: 80} }),
			"framework.port: not an option of plain; it has none"},
		{"an impossible port", mx(func(s *job.Spec) { s.Framework.Port = 65536 }),
			"framework.port: must be between 1 and 65535, is 65536"},
		{"an unknown van", mx(func(s *job.Spec) { s.Framework.Van = "pigeon" }),
			`framework.van: must be one of zmq, p3, ibverbs, is "pigeon"`},
		{"half a heartbeat", mx(func(s *job.Spec) { s.Framework.Heartbeat = job.Duration(1500 * time.Millisecond) }),
			"framework.heartbeat: must be whole seconds, is 1.5s"},

		{"a variable in every role is one problem", pt(func(s *job.Spec) { s.Roles["worker"].Env = map[string]string{"RANK": "1"} }),
			"env.RANK: set by Muster for torch; remove it"},
		{"a variable in one role", mx(func(s *job.Spec) { s.Roles["server"].Env = map[string]string{"DMLC_ROLE": "worker"} }),
			"roles.server.env.DMLC_ROLE: set by Muster for mxnet; remove it"},
		{"a variable taken from the caller", pt(func(s *job.Spec) { s.Roles["worker"].EnvFrom = []string{"MASTER_PORT"} }),
			"env.MASTER_PORT: set by Muster for torch; remove it"},
		{"a variable that an option sets", mx(func(s *job.Spec) {
			s.Framework.Van = "p3"
			s.Roles["worker"].Env = map[string]string{"DMLC_PS_VAN_TYPE": "zmq"}
		}), "roles.worker.env.DMLC_PS_VAN_TYPE: set by Muster for mxnet; remove it"},
		{"the same variable without the option", mx(func(s *job.Spec) {
			s.Roles["worker"].Env = map[string]string{"DMLC_PS_VAN_TYPE": "zmq"}
		}), ""},
		{"an interface chosen twice", pt(func(s *job.Spec) {
			s.Framework.Interface = "eth1"
			s.Roles["worker"].Env = map[string]string{"GLOO_SOCKET_IFNAME": "eth0"}
		}), "env.GLOO_SOCKET_IFNAME: set by Muster for torch; remove it"},
		{"sockets that are files", mx(func(s *job.Spec) { s.Roles["worker"].Env = map[string]string{"DMLC_LOCAL": "1"} }),
			"roles.worker.env.DMLC_LOCAL: its sockets are files that stay behind and that Muster cannot watch; remove it"},
		{"jax, sound", as("jax", map[string]*job.Role{"worker": {Replicas: 2, Procs: "2", Run: "x"}}), ""},
		{"jax with a variable that it reads", as("jax", map[string]*job.Role{"worker": {Replicas: 2, Env: map[string]string{"JAX_PROCESS_ID": "0"}}}),
			"env.JAX_PROCESS_ID: set by Muster for jax; remove it"},
		{"tensorflow, sound", as("tensorflow", map[string]*job.Role{"chief": {Replicas: 1}, "ps": {Replicas: 2}}), ""},
		{"tensorflow without anybody to train", as("tensorflow", map[string]*job.Role{"ps": {Replicas: 2}}),
			"roles.worker.replicas: must be at least 1 for tensorflow, is 0"},
		{"tensorflow with two chiefs", as("tensorflow", map[string]*job.Role{"chief": {Replicas: 2}}),
			"roles.chief.replicas: must be at most 1 for tensorflow, is 2"},
		{"byteps, sound", as("byteps", map[string]*job.Role{"scheduler": {Replicas: 1}, "server": {Replicas: 1}, "worker": {Replicas: 1, Procs: "2"}}), ""},
		{"byteps without servers", as("byteps", map[string]*job.Role{"scheduler": {Replicas: 1}, "worker": {Replicas: 1}}),
			"roles.server.replicas: must be at least 1 for byteps, is 0"},
		{"tvm, sound", as("tvm", map[string]*job.Role{"tracker": {Replicas: 1}, "server": {Replicas: 1}, "tuner": {Replicas: 1}}), ""},
		{"tvm without servers", as("tvm", map[string]*job.Role{"tracker": {Replicas: 1}, "tuner": {Replicas: 1}}),
			"roles.server.replicas: must be at least 1 for tvm, is 0"},
		{"mpi, sound", as("mpi", map[string]*job.Role{"launcher": {Replicas: 1}, "worker": {Replicas: 2, Procs: "2", Run: "x"}}), ""},
		{"mpi with a line of its own", as("mpi", map[string]*job.Role{"launcher": {Replicas: 1, Run: "mpirun -n 2 x"}, "worker": {Replicas: 2, Run: "x"}}),
			"roles.launcher.run: the launcher of mpi is mpirun, and its line is Muster's; remove it"},
		{"mpi in containers", as("mpi", map[string]*job.Role{"launcher": {Replicas: 1, Image: &job.Image{Name: "x"}}, "worker": {Replicas: 2, Image: &job.Image{Name: "x"}}}), ""},
		{"mpi with its launcher in a container", as("mpi", map[string]*job.Role{"launcher": {Replicas: 1, Image: &job.Image{Name: "x"}}, "worker": {Replicas: 2}}),
			"roles.launcher.image: the launcher and the ranks of mpi are all in containers, or none is"},
		{"mpi with servers", as("mpi", map[string]*job.Role{"launcher": {Replicas: 1}, "worker": {Replicas: 2}, "server": {Replicas: 1}}),
			"roles.server: mpi has no such role; it knows launcher, worker"},
		{"horovod with the variables of its own launcher", as("horovod", map[string]*job.Role{"launcher": {Replicas: 1}, "worker": {Replicas: 2, EnvFrom: []string{"HOROVOD_RANK"}}}),
			"roles.worker.env.HOROVOD_RANK: set by Muster for horovod; remove it"},

		{"the identity of a task", pt(func(s *job.Spec) {
			s.Framework.Name = "plain"
			s.Roles["worker"].Env = map[string]string{"MUSTER_RUN": "x"}
		}), "env.MUSTER_RUN: set by Muster; remove it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := ByName(tt.spec.Framework.Name)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Check(tt.spec).Error(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestCheckReportsEverythingAtOnce(t *testing.T) {
	l := mxnet{}.Check(mx(func(s *job.Spec) {
		s.Roles["server"].Replicas = 0
		s.Restart.Scope = "task"
		s.Framework.Van = "pigeon"
	}))
	if len(l) != 3 {
		t.Errorf("want 3 problems, have:\n%v", l)
	}
	for _, p := range l {
		if p.Kind != problem.Invalid {
			t.Errorf("%v is %s", p, p.Kind)
		}
	}
}

func as(framework string, roles map[string]*job.Role) *job.Spec {
	return &job.Spec{Framework: job.Framework{Name: framework}, Roles: roles}
}
