package rendezvous

import (
	"net"
	"net/netip"
	"strconv"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// member returns the place of a task, with the ports that it was to hold.
func (c Cluster) member(t job.Task, ports int) (Member, error) {
	m, ok := c[t]
	switch {
	case !ok || m.Addr == "":
		return m, problem.New(problem.Internal, "no address is known for %s", t)
	case len(m.Ports) < ports:
		return m, problem.New(problem.Internal, "%s holds %d of %d ports", t, len(m.Ports), ports)
	}
	return m, nil
}

// onLoopback says that all tasks are on this machine's loopback.
func (c Cluster) onLoopback() bool {
	for _, m := range c {
		if a, err := netip.ParseAddr(m.Addr); m.Addr != "localhost" && (err != nil || !a.IsLoopback()) {
			return false
		}
	}
	return true
}

// A location is where a rank is in its group, and where its group is among the
// groups.
type location struct{ rank, size, group, groups int }

// locate returns a rank's place. The ranks of one replica are a group, as under
// torchrun. Replicas of one process that have no GPUs of their own share what
// their machine has, so those at the same address are one.
func locate(s *job.Spec, c Cluster, t job.Task) (at location, err error) {
	own, err := c.member(t, 0)
	if err != nil {
		return at, err
	}
	r := s.Roles[t.Role]
	if n := r.PerReplica(); n > 1 || r.Resources.GPUs > 0 {
		return location{t.Index % n, n, t.Index / n, r.Replicas}, nil
	}
	nodes := map[string]int{}
	for i := range s.TaskCount(t.Role) {
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
	at.group, at.groups = nodes[own.Addr], len(nodes)
	return at, nil
}

func hostPort(addr string, port int) string { return net.JoinHostPort(addr, strconv.Itoa(port)) }
