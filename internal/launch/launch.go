// Package launch decides how a task is started: its command, its environment,
// its folder, its container, how it is probed. All of that follows from the run,
// from what it was given beside its record, and from the facts of the node that
// the task's place is on. The package does no I/O.
package launch

import (
	"path/filepath"
	"slices"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
)

// A Launcher turns wanted tasks into commands with their whole environment.
type Launcher struct {
	Dir     string // the run's folder, as its nodes see it
	Private Private
}

// Fill adds the launch to every task that is to be launched and still only
// holds its place.
func (l *Launcher) Fill(r *run.Run, seen engine.Observed, want *engine.Desired) error {
	cluster := rendezvous.Cluster{}
	holding := map[job.Instance]engine.Instance{}
	on := map[string][]job.Task{}
	for _, i := range seen.Instances {
		if i.Attempt == r.Attempt {
			if _, counted := cluster[i.Task]; !counted { // each of its tries is an instance
				on[i.Node] = append(on[i.Node], i.Task)
			}
			cluster[i.Task] = rendezvous.Member{Addr: i.Addr, Ports: i.Ports}
		}
		if i.State == engine.Holding {
			holding[i.Instance] = i
		}
	}
	for n := range want.Tasks {
		w := &want.Tasks[n]
		place, held := holding[w.Instance]
		if w.State != engine.Launched || !held {
			continue
		}
		fw, err := rendezvous.ByName(r.Spec.Framework.Name)
		if err != nil {
			return err
		}
		plan, err := fw.Launch(&r.Spec, cluster, w.Instance.Task)
		if err != nil {
			return err
		}
		node, known := seen.Nodes[place.Node]
		if !known {
			return problem.New(problem.Internal, "nothing is known of the node that %s is on", w.Instance.Task)
		}
		w.Launch = l.Launch(r, Start{w.Instance, plan, place.Listen, node, on[place.Node]})
	}
	return nil
}

// A Start is what a task's launch depends on besides its run.
type Start struct {
	job.Instance
	Plan   rendezvous.Plan
	Listen []int // the ports that it was given to serve on
	Node   engine.Node
	Beside []job.Task // the run's tasks on that node, itself among them
}

// Launch is how a task is started.
func (l *Launcher) Launch(r *run.Run, s Start) *engine.Launch {
	role := r.Spec.Roles[s.Task.Role]
	argv := argvOf(role, s.Node.Shell)
	if len(s.Plan.Rank) > 0 && role.Image == nil {
		argv = l.asRank(s.Node.Exe, s.Plan, argv)
	}
	share := role.PerReplica() // resources are a replica's
	launch := &engine.Launch{
		Argv: argv, Env: l.environ(r, s), Dir: l.workdir(r, role), Joined: s.Plan.Joined, WaitsAtExit: rendezvous.FactsOf(r.Spec.Framework.Name).WaitsAtExit, Health: healthOf(role, s.Listen), Teardown: teardownOf(&r.Spec, s),
		Memory: int64(role.Resources.Memory) / int64(share), CPUs: role.Resources.CPUs / float64(share),
	}
	if role.Image != nil {
		l.contain(launch, r, s)
	}
	setUp(launch, &r.Spec, s.Task)
	return launch
}

// argvOf is the command; a script runs in the task's shell. A shell that is given
// one simple command becomes it, so that signals and exit codes are its own.
func argvOf(role *job.Role, shell string) []string {
	if role.Run != "" {
		return []string{shell, "-e", "-c", role.Run}
	}
	return slices.Concat(role.Command, role.Args)
}

// workdir is where a task starts: what its role says, else the run's copy of
// the code, else the caller's folder.
func (l *Launcher) workdir(r *run.Run, role *job.Role) string {
	base := r.Origin.Dir
	if r.Origin.Code != "" {
		base = filepath.Join(l.Dir, CodeDir)
	}
	if role.Workdir == "" {
		return base
	}
	if filepath.IsAbs(role.Workdir) {
		return role.Workdir
	}
	return filepath.Join(base, role.Workdir)
}
