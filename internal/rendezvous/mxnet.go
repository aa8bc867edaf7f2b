package rendezvous

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// mxnet is MXNet's parameter server, ps-lite: a scheduler on the root port
// counts servers and workers in and gives them ranks. It has no time limit and
// prints nothing while somebody is missing, so all of it is checked here.
type mxnet struct{}

// mxnetScheduler is the task that listens on the root port.
var mxnetScheduler = job.Task{Role: "scheduler", Index: 0}

// mxnetVars are the variables that tasks get.
var mxnetVars = []string{
	"DMLC_ROLE", "DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT", "DMLC_NUM_WORKER", "DMLC_NUM_SERVER",
	"DMLC_NODE_HOST", "DMLC_WORKER_ID", "DMLC_SERVER_ID", "PORT",
}

// mxnetBarrier is where its workers wait for each other at the end.
const mxnetBarrier = "in MXNet's exit barrier, as MXNet workers do"

// mxnetVans are the transports that builds of MXNet have.
var mxnetVans = []string{"zmq", "p3", "ibverbs"}

func (mxnet) Facts() Facts {
	return Facts{
		Name: "mxnet", Success: "worker", Gathers: true, Helpers: []string{"scheduler", "server"},
		Adds: []string{"scheduler"}, Given: []string{"scheduler", "server"}, Servers: "server", Hangs: mxnetBarrier,
	}
}

func (f mxnet) Check(s *job.Spec) problem.List {
	l := checkRoles(s, "scheduler", "server", "worker")
	l = append(l, checkAtLeastOne(s, "server")...)
	l = append(l, checkAtLeastOne(s, "worker")...)
	l = append(l, checkOne(s, "scheduler")...)
	l = append(l, checkProcs(s)...)
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
	if t == mxnetScheduler && s.Framework.Port != 0 {
		return 0
	}
	return 1
}

func (f mxnet) Launch(s *job.Spec, c Cluster, t job.Task) (Plan, error) {
	addr, port, err := f.root(s, c)
	if err != nil {
		return Plan{}, err
	}
	own, err := c.member(t, f.Ports(s, t))
	if err != nil {
		return Plan{}, err
	}
	env := f.options(s.Framework)
	env["DMLC_ROLE"] = t.Role
	env["DMLC_PS_ROOT_URI"] = addr
	env["DMLC_PS_ROOT_PORT"] = strconv.Itoa(port)
	env["DMLC_NUM_SERVER"] = strconv.Itoa(s.TaskCount("server"))
	env["DMLC_NUM_WORKER"] = strconv.Itoa(s.TaskCount("worker"))
	if t == mxnetScheduler {
		return Plan{Env: env, Joined: &engine.Probe{Listen: port}}, nil
	}
	// Ranks follow the ports, so ascending ports make the rank the index.
	env["PORT"] = strconv.Itoa(own.Ports[0])
	env["DMLC_"+strings.ToUpper(t.Role)+"_ID"] = strconv.Itoa(t.Index)
	if s.Framework.Interface == "" && !hasEnv(s.Roles[t.Role], "DMLC_INTERFACE") { // the address would win over it
		env["DMLC_NODE_HOST"] = own.Addr
	}
	return Plan{Env: env, Joined: &engine.Probe{Listen: own.Ports[0]}}, nil
}

// root returns where the scheduler listens. ps-lite's scheduler binds it and
// aborts on a name, while the others wait for it for ever.
func (f mxnet) root(s *job.Spec, c Cluster) (addr string, port int, err error) {
	m, err := c.member(mxnetScheduler, f.Ports(s, mxnetScheduler))
	if err != nil {
		return "", 0, err
	}
	if a, err := netip.ParseAddr(m.Addr); err != nil || !a.Is4() {
		return "", 0, problem.New(problem.Refused, "%s is at %s, and MXNet's scheduler binds only an IPv4 address", mxnetScheduler, m.Addr)
	}
	if s.Framework.Port != 0 {
		return m.Addr, s.Framework.Port, nil
	}
	return m.Addr, m.Ports[0], nil
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
