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

func (torch) Facts() Facts {
	return Facts{Name: "torch", Success: "all", Gathers: true, Servers: "server", Hangs: pythonEnd}
}

func (torch) Check(s *job.Spec) problem.List {
	return checkAlike(s, "a torch process group cannot take a member back", torchVars)
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
	rank, size := strconv.Itoa(t.Index), strconv.Itoa(s.TaskCount("worker"))
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
