package rendezvous

import (
	"maps"
	"slices"
	"strconv"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// byteps is BytePS: ps-lite between machines, and sockets among the
// processes of one. A worker of the former is a replica here, and the last of
// its processes speaks for it.
type byteps struct{}

// bytepsVars are the variables that tasks get.
var bytepsVars = []string{
	"DMLC_ROLE", "DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT", "DMLC_NUM_WORKER", "DMLC_NUM_SERVER",
	"DMLC_NODE_HOST", "DMLC_WORKER_ID", "PORT", "BYTEPS_LOCAL_RANK", "BYTEPS_LOCAL_SIZE", "BYTEPS_FORCE_DISTRIBUTED",
}

// bytepsServe is what schedulers and servers run.
var bytepsServe = []string{"python3", "-c", "import byteps.server"}

func (byteps) Facts() Facts { return psliteFacts("byteps") }

func (f byteps) Check(s *job.Spec) problem.List {
	l := append(checkPSLite(s), checkOptions(s.Framework, "port", "interface")...)
	l = append(l, checkScope(s, "BytePS cannot take a member back")...)
	return append(l, checkEnv(s, append(slices.Sorted(maps.Keys(f.options(s.Framework))), bytepsVars...)...)...)
}

// complete adds the scheduler and the command of those that only serve.
func (byteps) complete(s *job.Spec) {
	worker := s.Roles["worker"]
	if worker == nil {
		return
	}
	imply(s, "scheduler", worker)
	for _, name := range []string{"scheduler", "server"} {
		r := s.Roles[name]
		if r == nil {
			continue
		}
		r.Procs = "" // a default of all roles
		if !ownCommand(r, worker) {
			r.Run, r.Command, r.Args = "", slices.Clone(bytepsServe), nil
			sharePlace(r, worker)
		}
	}
}

func (f byteps) Ports(s *job.Spec, t job.Task) int {
	switch {
	case t == psliteScheduler:
		return psliteRootPorts(s)
	case f.speaks(s, t):
		return 1
	}
	return 0
}

// speaks says that a task takes part between machines.
func (byteps) speaks(s *job.Spec, t job.Task) bool {
	n := s.Roles[t.Role].PerReplica()
	return t.Index%n == n-1
}

func (f byteps) Launch(s *job.Spec, c Cluster, t job.Task) (Plan, error) {
	root, err := rootOf(s, c)
	if err != nil {
		return Plan{}, err
	}
	own, err := c.member(t, f.Ports(s, t))
	if err == nil {
		err = f.checkAlone(s, c, t)
	}
	if err != nil {
		return Plan{}, err
	}
	env := f.options(s.Framework)
	workers := replicas(s, "worker")
	root.tell(env, t, s.TaskCount("server"), workers)
	if workers == 1 {
		env["BYTEPS_FORCE_DISTRIBUTED"] = "1" // else the servers wait for it for ever
	}
	if t == psliteScheduler {
		return Plan{Env: env, Joined: &engine.Probe{Listen: root.port}}, nil
	}
	if t.Role == "worker" {
		n := s.Roles[t.Role].PerReplica()
		env["DMLC_WORKER_ID"] = strconv.Itoa(t.Index / n)
		env["BYTEPS_LOCAL_RANK"], env["BYTEPS_LOCAL_SIZE"] = strconv.Itoa(t.Index%n), strconv.Itoa(n)
	}
	plan := Plan{Env: env, Sees: s.ReplicaOf(t)}
	if s.Framework.Interface == "" {
		env["DMLC_NODE_HOST"] = own.Addr
	}
	if f.speaks(s, t) {
		env["PORT"] = strconv.Itoa(own.Ports[0])
		plan.Joined = &engine.Probe{Listen: own.Ports[0]}
	}
	return plan, nil
}

// checkAlone refuses two workers on one machine: they would take each other's
// sockets and shared memory, which have fixed names.
func (byteps) checkAlone(s *job.Spec, c Cluster, t job.Task) error {
	n := s.Roles[t.Role].PerReplica()
	for i := range s.TaskCount("worker") {
		other := job.Task{Role: "worker", Index: i}
		if t.Role == "worker" && i/n != t.Index/n && c[other].Addr == c[t].Addr {
			return problem.New(problem.Refused, "%s and %s are two BytePS workers on one machine, %s, where there can be only one", other, t, c[t].Addr).
				WithHint("workers: 1 and procs: %d are as many processes", replicas(s, "worker"))
		}
	}
	return nil
}

// options returns the variables that carry the options of the job.
func (byteps) options(o job.Framework) map[string]string {
	env := map[string]string{}
	if o.Interface != "" {
		env["DMLC_INTERFACE"] = o.Interface
	}
	return env
}

// replicas is the number of replicas, whatever processes these have.
func replicas(s *job.Spec, role string) int {
	if r := s.Roles[role]; r != nil {
		return r.Replicas
	}
	return 0
}
