package rendezvous

import (
	"slices"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// What torch and JAX have in common: workers that are all alike, the first of
// which the others dial, and collectives that choose a network of their own.

// checkAlike is Check for them: why says that a member cannot be taken back,
// set are the variables that tasks get.
func checkAlike(s *job.Spec, why string, set []string) problem.List {
	l := checkRoles(s, "worker")
	l = append(l, checkAtLeastOne(s, "worker")...)
	l = append(l, checkOptions(s.Framework, "port", "interface")...)
	l = append(l, checkScope(s, why)...)
	if s.Framework.Interface != "" {
		set = slices.Concat(set, collectives)
	}
	return append(l, checkEnv(s, set...)...)
}

// first is the worker that the others dial, where there is no role for that.
var first = job.Task{Role: "worker", Index: 0}

// firstPorts is one port for the first worker, unless the job names it.
func firstPorts(s *job.Spec, t job.Task) int {
	if t == first && s.Framework.Port == 0 {
		return 1
	}
	return 0
}

// firstAt returns where the first worker listens.
func firstAt(s *job.Spec, c Cluster) (addr string, port int, err error) {
	m, err := c.member(first, firstPorts(s, first))
	if err != nil {
		return "", 0, err
	}
	if s.Framework.Port != 0 {
		return m.Addr, s.Framework.Port, nil
	}
	return m.Addr, m.Ports[0], nil
}

// joinedFirst is how it shows that workers have met at the first one's port. It
// is nil for a gang of one, which may well not look for others.
func joinedFirst(s *job.Spec, t job.Task, port int) *engine.Probe {
	switch {
	case s.TaskCount(t.Role) == 1:
		return nil
	case t == first:
		return &engine.Probe{Listen: port}
	}
	return &engine.Probe{Connect: port}
}

// collectives choose their network by these, each backend by its own.
var collectives = []string{"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"}

// addInterface names the network of the collectives: the one the job asks for,
// or the loopback where all are on it. Gloo would look up the host's name
// instead, which many machines cannot resolve. A choice in the job's env stays.
func addInterface(env map[string]string, s *job.Spec, c Cluster, t job.Task) {
	name := s.Framework.Interface
	if name == "" && c.onLoopback() {
		name = "lo"
	}
	for _, v := range collectives {
		if name != "" && !hasEnv(s.Roles[t.Role], v) {
			env[v] = name
		}
	}
}
