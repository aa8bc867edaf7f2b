package rendezvous

import (
	"net/netip"
	"strconv"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// torch is torch.distributed with init_method env://: rank 0 opens a store on
// the master port and everyone dials it.
type torch struct{}

// torchMaster is the task whose address is the master's.
var torchMaster = job.Task{Role: "worker", Index: 0}

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
	l = append(l, checkProcs(s)...)
	l = append(l, checkOptions(s.Framework, "port", "interface")...)
	l = append(l, checkScope(s, "a torch process group cannot take a member back")...)
	set := torchVars
	if s.Framework.Interface != "" {
		set = append(set[:len(set):len(set)], torchInterfaces...)
	}
	return append(l, checkEnv(s, set...)...)
}

func (torch) Ports(s *job.Spec, t job.Task) int {
	if t == torchMaster && s.Framework.Port == 0 {
		return 1
	}
	return 0
}

func (f torch) Launch(s *job.Spec, c Cluster, t job.Task) (Plan, error) {
	addr, port, err := f.master(s, c)
	if err != nil {
		return Plan{}, err
	}
	at, err := f.locate(s, c, t)
	if err != nil {
		return Plan{}, err
	}
	rank, size := strconv.Itoa(t.Index), strconv.Itoa(s.Replicas("worker"))
	env := map[string]string{
		"MASTER_ADDR": addr, "MASTER_PORT": strconv.Itoa(port),
		"RANK": rank, "WORLD_SIZE": size,
		"ROLE_NAME": t.Role, "ROLE_RANK": rank, "ROLE_WORLD_SIZE": size,
		"LOCAL_RANK": strconv.Itoa(at.rank), "LOCAL_WORLD_SIZE": strconv.Itoa(at.size),
		"GROUP_RANK": strconv.Itoa(at.node), "GROUP_WORLD_SIZE": strconv.Itoa(at.nodes),
	}
	f.addInterface(env, s, c, t)
	return Plan{env, f.joined(s, t, port)}, nil
}

// joined is nil for a gang of one, which may well not look for others.
func (torch) joined(s *job.Spec, t job.Task, port int) *engine.Probe {
	switch {
	case s.Replicas(t.Role) == 1:
		return nil
	case t == torchMaster:
		return &engine.Probe{Listen: port}
	}
	return &engine.Probe{Connect: port}
}

func (f torch) master(s *job.Spec, c Cluster) (addr string, port int, err error) {
	m, err := c.member(torchMaster, f.Ports(s, torchMaster))
	if err != nil {
		return "", 0, err
	}
	if s.Framework.Port != 0 {
		return m.Addr, s.Framework.Port, nil
	}
	return m.Addr, m.Ports[0], nil
}

// A location is where a rank is among those of its node, and where its node is
// among the nodes. Tasks with the same address share a node.
type location struct{ rank, size, node, nodes int }

func (torch) locate(s *job.Spec, c Cluster, t job.Task) (at location, err error) {
	own, err := c.member(t, 0)
	if err != nil {
		return at, err
	}
	nodes := map[string]int{}
	for i := range s.Replicas(t.Role) {
		m, err := c.member(job.Task{Role: t.Role, Index: i}, 0)
		if err != nil {
			return at, err
		}
		if _, seen := nodes[m.Addr]; !seen {
			nodes[m.Addr] = len(nodes)
		}
		if m.Addr == own.Addr {
			at.size++
			if i < t.Index {
				at.rank++
			}
		}
	}
	at.node, at.nodes = nodes[own.Addr], len(nodes)
	return at, nil
}

// addInterface names the network of the collectives: the one the job asks for,
// or the loopback where all are on it. Gloo would look up the host's name
// instead, which many machines cannot resolve. A choice in the job's env stays.
func (torch) addInterface(env map[string]string, s *job.Spec, c Cluster, t job.Task) {
	name := s.Framework.Interface
	if name == "" && onLoopback(c) {
		name = "lo"
	}
	for _, v := range torchInterfaces {
		if name != "" && !hasEnv(s.Roles[t.Role], v) {
			env[v] = name
		}
	}
}

func onLoopback(c Cluster) bool {
	for _, m := range c {
		if a, err := netip.ParseAddr(m.Addr); m.Addr != "localhost" && (err != nil || !a.IsLoopback()) {
			return false
		}
	}
	return true
}
