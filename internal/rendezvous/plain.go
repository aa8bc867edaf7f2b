package rendezvous

import (
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// plain is no framework at all: tasks that start together and find each other,
// if they want to, by themselves.
type plain struct{}

func (plain) Facts() Facts {
	return Facts{Name: "plain", Success: "all", TakesBack: true, Servers: "server", Hangs: pythonEnd}
}

func (plain) Check(s *job.Spec) problem.List {
	l := checkProcs(s)
	l = append(l, checkOptions(s.Framework)...)
	l = append(l, checkEnv(s)...)
	if len(s.RoleNames()) == 0 {
		l = append(l, invalid("roles", "no role has a task").WithHint("workers: 1 is the short form"))
	}
	return l
}

func (plain) Ports(*job.Spec, job.Task) int { return 0 }

func (plain) Launch(*job.Spec, Cluster, job.Task) (Plan, error) { return Plan{}, nil }
