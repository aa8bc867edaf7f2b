package rendezvous

import (
	"net/netip"
	"strconv"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// What MXNet and BytePS have in common is ps-lite: a scheduler on the root port
// counts servers and workers in and gives them ranks. It has no time limit and
// prints nothing while somebody is missing, so all of it is checked here.

// psliteScheduler is the task that listens on the root port.
var psliteScheduler = job.Task{Role: "scheduler", Index: 0}

// psliteBarrier is where workers wait for each other at the end.
const psliteBarrier = "in MXNet's exit barrier, as MXNet workers do"

func psliteFacts(name string) Facts {
	return Facts{
		Name: name, Success: "worker", Gathers: true, Helpers: []string{"scheduler", "server"},
		Adds: []string{"scheduler"}, Given: []string{"scheduler", "server"}, Servers: "server", Hangs: psliteBarrier,
	}
}

func checkPSLite(s *job.Spec) problem.List {
	l := checkRoles(s, "scheduler", "server", "worker")
	l = append(l, checkAtLeastOne(s, "server")...)
	l = append(l, checkAtLeastOne(s, "worker")...)
	return append(l, checkOne(s, "scheduler")...)
}

// psliteRootPorts is one port for the scheduler, unless the job names it.
func psliteRootPorts(s *job.Spec) int {
	if s.Framework.Port != 0 {
		return 0
	}
	return 1
}

// A psliteRoot is where the scheduler listens.
type psliteRoot struct {
	addr string
	port int
}

// rootOf finds the root. The scheduler binds it itself and aborts on a name,
// while the others wait for it for ever.
func rootOf(s *job.Spec, c Cluster) (psliteRoot, error) {
	m, err := c.member(psliteScheduler, psliteRootPorts(s))
	if err != nil {
		return psliteRoot{}, err
	}
	if a, err := netip.ParseAddr(m.Addr); err != nil || !a.Is4() {
		return psliteRoot{}, problem.New(problem.Refused, "%s is at %s, and MXNet's scheduler binds only an IPv4 address", psliteScheduler, m.Addr)
	}
	if s.Framework.Port != 0 {
		return psliteRoot{m.Addr, s.Framework.Port}, nil
	}
	return psliteRoot{m.Addr, m.Ports[0]}, nil
}

// tell adds to env what every task is told: what it is, where the root is, and
// how many are to be counted in.
func (r psliteRoot) tell(env map[string]string, t job.Task, servers, workers int) {
	env["DMLC_ROLE"] = t.Role
	env["DMLC_PS_ROOT_URI"] = r.addr
	env["DMLC_PS_ROOT_PORT"] = strconv.Itoa(r.port)
	env["DMLC_NUM_SERVER"] = strconv.Itoa(servers)
	env["DMLC_NUM_WORKER"] = strconv.Itoa(workers)
}
