package rendezvous

import (
	"slices"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// horovod is Horovod over MPI: its ranks are MPI's.
type horovod struct{ mpi }

// horovodVars choose MPI in a build of Horovod that has other ways too. A job
// that knows better says so in its env.
var horovodVars = []string{"HOROVOD_CONTROLLER", "HOROVOD_CPU_OPERATIONS"}

// horovodRanks are the variables of Horovod's own launcher, which would win
// over MPI's.
var horovodRanks = []string{"HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE"}

func (f horovod) Facts() Facts {
	facts := f.mpi.Facts()
	facts.Name = "horovod"
	return facts
}

func (f horovod) Check(s *job.Spec) problem.List {
	return f.check(s, slices.Concat(mpiVars, horovodRanks))
}

func (f horovod) Launch(s *job.Spec, c Cluster, t job.Task) (Plan, error) {
	plan, err := f.mpi.Launch(s, c, t)
	if err != nil || t.Role != "worker" {
		return plan, err
	}
	plan.Env = map[string]string{}
	for _, v := range horovodVars {
		if !hasEnv(s.Roles[t.Role], v) {
			plan.Env[v] = "mpi"
		}
	}
	return plan, nil
}
