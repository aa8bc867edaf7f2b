package rendezvous

import (
	"strconv"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// torch is torch.distributed with init_method env://: rank 0 opens a store on
// the master port and everyone dials it.
type torch struct{}

// torchVars are the variables that every task gets: those that torchrun sets
// and scripts have come to rely on.
var torchVars = []string{
	"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
	"GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_NAME", "ROLE_RANK", "ROLE_WORLD_SIZE",
}

// torchInterfaces choose the network of the collectives, by backend.
var torchInterfaces = []string{"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"}

func (torch) Facts() Facts {
	return Facts{Name: "torch", Success: "all", Gathers: true}
}

func (torch) Check(s *job.Spec) problem.List {
	l := checkRoles(s, "worker")
	l = append(l, checkAtLeastOne(s, "worker")...)
	l = append(l, checkOptions(s.Framework, "port", "interface")...)
	l = append(l, checkScope(s, "a torch process group cannot take a member back")...)
	set := torchVars
	if s.Framework.Interface != "" {
		set = append(set[:len(set):len(set)], torchInterfaces...)
	}
	return append(l, checkEnv(s, set...)...)
}

func (torch) Ports(s *job.Spec, t job.Task) int { return firstPorts(s, t) }

func (torch) Launch(s *job.Spec, c Cluster, t job.Task) (Plan, error) {
	addr, port, err := firstAt(s, c)
	if err != nil {
		return Plan{}, err
	}
	at, err := locate(s, c, t)
	if err != nil {
		return Plan{}, err
	}
	rank, size := strconv.Itoa(t.Index), strconv.Itoa(s.Replicas("worker"))
	env := map[string]string{
		"MASTER_ADDR": addr, "MASTER_PORT": strconv.Itoa(port),
		"RANK": rank, "WORLD_SIZE": size,
		"ROLE_NAME": t.Role, "ROLE_RANK": rank, "ROLE_WORLD_SIZE": size,
		"LOCAL_RANK": strconv.Itoa(at.rank), "LOCAL_WORLD_SIZE": strconv.Itoa(at.size),
		"GROUP_RANK": strconv.Itoa(at.group), "GROUP_WORLD_SIZE": strconv.Itoa(at.groups),
	}
	addInterface(env, s, c, t)
	return Plan{Env: env, Joined: joinedFirst(s, t, port), Sees: s.ReplicaOf(t)}, nil
}

// addInterface names the network of the collectives: the one the job asks for,
// or the loopback where all are on it. Gloo would look up the host's name
// instead, which many machines cannot resolve. A choice in the job's env stays.
func addInterface(env map[string]string, s *job.Spec, c Cluster, t job.Task) {
	name := s.Framework.Interface
	if name == "" && c.onLoopback() {
		name = "lo"
	}
	for _, v := range torchInterfaces {
		if name != "" && !hasEnv(s.Roles[t.Role], v) {
			env[v] = name
		}
	}
}
