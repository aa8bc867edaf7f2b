package rendezvous

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// mxnet is MXNet's parameter server, which is ps-lite as it is.
type mxnet struct{}

// mxnetVars are the variables that tasks get.
var mxnetVars = []string{
	"DMLC_ROLE", "DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT", "DMLC_NUM_WORKER", "DMLC_NUM_SERVER",
	"DMLC_NODE_HOST", "DMLC_WORKER_ID", "DMLC_SERVER_ID", "PORT",
}

// mxnetVans are the transports that builds of MXNet have.
var mxnetVans = []string{"zmq", "p3", "ibverbs"}

func (mxnet) Facts() Facts { return psliteFacts("mxnet") }

func (f mxnet) Check(s *job.Spec) problem.List {
	l := append(checkPSLite(s), checkProcs(s)...)
	l = append(l, f.checkOptions(s.Framework)...)
	l = append(l, checkScope(s, "MXNet cannot take a member back")...)
	l = append(l, checkEnv(s, append(slices.Sorted(maps.Keys(f.options(s.Framework))), mxnetVars...)...)...)
	for _, field := range envFields(s, "DMLC_LOCAL") {
		l = append(l, invalid(field, "its sockets are files that stay behind and that Muster cannot watch; remove it"))
	}
	return l
}

func (mxnet) checkOptions(o job.Framework) problem.List {
	l := checkOptions(o, "port", "van", "interface", "heartbeat")
	if o.Van != "" && !slices.Contains(mxnetVans, o.Van) {
		l = append(l, invalid("framework.van", "must be one of %s, is %q", strings.Join(mxnetVans, ", "), o.Van))
	}
	if o.Heartbeat.D()%time.Second != 0 {
		l = append(l, invalid("framework.heartbeat", "must be whole seconds, is %s", o.Heartbeat))
	}
	return l
}

// complete adds the scheduler, and gives the roles that have no command the
// worker's: under MXNet all of them run the same script.
func (mxnet) complete(s *job.Spec) {
	worker := s.Roles["worker"]
	if worker == nil {
		return
	}
	imply(s, "scheduler", worker)
	for _, name := range []string{"scheduler", "server"} {
		if r := s.Roles[name]; r != nil && !hasCommand(r) {
			shareCommand(r, worker)
		}
	}
}

func (mxnet) Ports(s *job.Spec, t job.Task) int {
	if t == psliteScheduler {
		return psliteRootPorts(s)
	}
	return 1
}

func (f mxnet) Launch(s *job.Spec, c Cluster, t job.Task) (Plan, error) {
	root, err := rootOf(s, c)
	if err != nil {
		return Plan{}, err
	}
	own, err := c.member(t, f.Ports(s, t))
	if err != nil {
		return Plan{}, err
	}
	env := f.options(s.Framework)
	root.tell(env, t, s.TaskCount("server"), s.TaskCount("worker"))
	if t == psliteScheduler {
		return Plan{Env: env, Joined: &engine.Probe{Listen: root.port}}, nil
	}
	// Ranks follow the ports, so ascending ports make the rank the index.
	env["PORT"] = strconv.Itoa(own.Ports[0])
	env["DMLC_"+strings.ToUpper(t.Role)+"_ID"] = strconv.Itoa(t.Index)
	if s.Framework.Interface == "" && !hasEnv(s.Roles[t.Role], "DMLC_INTERFACE") { // the address would win over it
		env["DMLC_NODE_HOST"] = own.Addr
	}
	return Plan{Env: env, Joined: &engine.Probe{Listen: own.Ports[0]}}, nil
}

// options returns the variables that carry the options of the job.
func (mxnet) options(o job.Framework) map[string]string {
	env := map[string]string{}
	if o.Van != "" {
		env["DMLC_PS_VAN_TYPE"] = o.Van
	}
	if o.Interface != "" {
		env["DMLC_INTERFACE"] = o.Interface
	}
	if o.Heartbeat != 0 {
		env["PS_HEARTBEAT_INTERVAL"] = strconv.Itoa(int(o.Heartbeat.D() / time.Second))
	}
	return env
}
