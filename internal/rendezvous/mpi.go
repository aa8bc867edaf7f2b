package rendezvous

import (
	"slices"
	"strconv"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// mpi is whatever runs under mpirun. The workers are the ranks, and their
// command is one rank's; the launcher is mpirun, whose line package rank writes.
type mpi struct{}

// mpiVars are some of the variables that ranks get from mpirun.
var mpiVars = []string{
	"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
	"PMIX_RANK", "PMIX_NAMESPACE", "PMI_RANK", "PMI_SIZE", "PMI_FD",
}

func (mpi) Facts() Facts {
	return Facts{
		Name: "mpi", Success: "launcher", Given: []string{"launcher"}, Servers: "server", Ranks: true,
		Hangs: "while MPI was ending, as MPI ranks do",
	}
}

func (f mpi) Check(s *job.Spec) problem.List { return f.check(s, mpiVars) }

// check is Check, for whatever has MPI's ranks and sets these variables.
func (mpi) check(s *job.Spec, set []string) problem.List {
	l := checkRoles(s, "launcher", "worker")
	l = append(l, checkAtLeastOne(s, "worker")...)
	l = append(l, checkOne(s, "launcher")...)
	if r := s.Roles["launcher"]; r != nil && hasCommand(r) {
		l = append(l, invalid("roles.launcher.run", "the launcher of %s is mpirun, and its line is Muster's; remove it", s.Framework.Name).
			WithHint("framework.options takes mpirun's own options, framework.launcher another mpirun"))
	}
	if launcher, worker := s.Roles["launcher"], s.Roles["worker"]; launcher != nil && worker != nil && (launcher.Image == nil) != (worker.Image == nil) {
		l = append(l, invalid("roles.launcher.image", "the launcher and the ranks of %s are all in containers, or none is", s.Framework.Name).
			WithHint("leave the launcher out: it is as the workers are"))
	}
	l = append(l, checkOptions(s.Framework, "flavour", "options", "launcher")...)
	l = append(l, checkScope(s, "MPI cannot take a rank back")...)
	return append(l, checkEnv(s, set...)...)
}

// complete adds the launcher, with the variables that mpirun may care for.
func (mpi) complete(s *job.Spec) {
	worker := s.Roles["worker"]
	if worker == nil {
		return
	}
	launcher := imply(s, "launcher", worker)
	if !ownCommand(launcher, worker) {
		launcher.Run, launcher.Command, launcher.Args = "", nil, nil
	}
	launcher.Procs = "" // a default of all roles
	if launcher.Workdir == "" {
		launcher.Workdir = worker.Workdir
	}
	if launcher.Image == nil { // it needs the MPI that the ranks have
		launcher.Image, launcher.Container = worker.Image, worker.Container
	}
	if launcher.Volumes == nil {
		launcher.Volumes = slices.Clone(worker.Volumes)
	}
}

func (mpi) Ports(*job.Spec, job.Task) int { return 0 }

func (f mpi) Launch(s *job.Spec, c Cluster, t job.Task) (Plan, error) {
	if err := f.checkTogether(s, c); err != nil {
		return Plan{}, err
	}
	if t.Role != "launcher" {
		return Plan{Rank: []string{"serve"}, Sees: f.ranks(s)}, nil
	}
	o := s.Framework
	args := []string{"launch", strconv.Itoa(s.TaskCount("worker")), orAuto(o.Flavour), orAuto(o.Launcher)}
	return Plan{Rank: append(args, o.Options...)}, nil
}

// ranks are all the workers: an MPI library counts those of one machine
// together, whichever replica they are of, and so their GPUs.
func (mpi) ranks(s *job.Spec) (all []job.Task) {
	for i := range s.TaskCount("worker") {
		all = append(all, job.Task{Role: "worker", Index: i})
	}
	return all
}

// checkTogether refuses ranks on several machines, which have no way to be
// joined there yet.
func (f mpi) checkTogether(s *job.Spec, c Cluster) error {
	launcher, err := c.member(job.Task{Role: "launcher"}, 0)
	if err != nil {
		return err
	}
	for _, t := range f.ranks(s) {
		m, err := c.member(t, 0)
		if err != nil {
			return err
		}
		if m.Addr != launcher.Addr {
			return problem.New(problem.Refused, "%s is at %s and the launcher at %s: ranks of %s are on one machine, so far",
				t, m.Addr, launcher.Addr, s.Framework.Name)
		}
	}
	return nil
}

func orAuto(s string) string {
	if s == "" {
		return "auto"
	}
	return s
}
