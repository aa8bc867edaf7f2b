package rendezvous

import (
	"net/netip"
	"strconv"
	"strings"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// jax is jax.distributed: process 0 serves as coordinator and everyone dials it.
type jax struct{}

// jaxVars are the variables that tasks get. jax.distributed.initialize() reads
// the coordinator's from the environment, but numbers only from launchers that
// it knows; so it is told in the words of the plainest of those, Open MPI.
var jaxVars = []string{
	"JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_BIND_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_LOCAL_DEVICE_IDS",
	"OMPI_MCA_orte_hnp_uri", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
}

func (jax) Facts() Facts {
	return Facts{Name: "jax", Success: "all", Gathers: true, Servers: "server", Hangs: "in JAX's exit callback, which waits for the others", WaitsAtExit: true}
}

func (jax) Check(s *job.Spec) problem.List {
	return checkAlike(s, "JAX's processes cannot take a member back", jaxVars)
}

func (jax) Ports(s *job.Spec, t job.Task) int { return firstPorts(s, t) }

func (f jax) Launch(s *job.Spec, c Cluster, t job.Task) (Plan, error) {
	addr, port, err := firstAt(s, c)
	if err != nil {
		return Plan{}, err
	}
	at, err := locate(s, c, t)
	if err != nil {
		return Plan{}, err
	}
	id, n, coordinator := strconv.Itoa(t.Index), strconv.Itoa(s.TaskCount("worker")), hostPort(addr, port)
	env := map[string]string{
		"JAX_COORDINATOR_ADDRESS": coordinator, "JAX_NUM_PROCESSES": n, "JAX_PROCESS_ID": id,
		"OMPI_MCA_orte_hnp_uri": "0.0;tcp://" + coordinator, "OMPI_COMM_WORLD_SIZE": n,
		"OMPI_COMM_WORLD_RANK": id, "OMPI_COMM_WORLD_LOCAL_RANK": strconv.Itoa(at.rank),
	}
	// It would listen on every address of the machine.
	if _, err := netip.ParseAddr(addr); err == nil && t == first {
		env["JAX_COORDINATOR_BIND_ADDRESS"] = coordinator
	}
	// A process has GPUs of its own and uses all of them.
	if gpus := s.GPUsOf(t); gpus > 0 {
		env["JAX_LOCAL_DEVICE_IDS"], env["OMPI_COMM_WORLD_LOCAL_RANK"] = f.count(gpus), "0"
	}
	if s.Framework.Interface != "" {
		addInterface(env, s, c, t)
	}
	return Plan{Env: env, Joined: joinedFirst(s, t, port)}, nil
}

// count returns 0,1,...,n-1.
func (jax) count(n int) string {
	var ids []string
	for i := range n {
		ids = append(ids, strconv.Itoa(i))
	}
	return strings.Join(ids, ",")
}
