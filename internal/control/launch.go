//go:build linux

package control

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
)

// A launcher turns wanted tasks into commands with their whole environment.
type launcher struct {
	dir     string // the run's folder
	exe     string // our own program
	private private
	shell   string
	cores   int
	uid     int
	groups  []int
}

func newLauncher(dir, exe string) (*launcher, error) {
	v, err := readPrivate(dir)
	if err != nil {
		return nil, err
	}
	return &launcher{
		dir: dir, exe: exe, private: v, shell: findShell(), cores: runtime.NumCPU(), uid: os.Getuid(), groups: callerGroups(),
	}, nil
}

func findShell() string {
	if _, err := os.Stat("/bin/bash"); err == nil {
		return "/bin/bash"
	}
	return "/bin/sh"
}

// fill adds the launch to every task that is to be launched and still only
// holds its place.
func (l *launcher) fill(r *run.Run, seen engine.Observed, want *engine.Desired) error {
	cluster := rendezvous.Cluster{}
	holding := map[job.Instance]engine.Instance{}
	for _, i := range seen.Instances {
		if i.Attempt == r.Attempt {
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
		w.Launch = l.launch(r, start{w.Instance, plan, place.Listen})
	}
	return nil
}

// A start is what a task's launch depends on besides its run.
type start struct {
	job.Instance
	plan   rendezvous.Plan
	listen []int // the ports that it was given to serve on
}

func (l *launcher) launch(r *run.Run, s start) *engine.Launch {
	role := r.Spec.Roles[s.Task.Role]
	argv := l.argv(role)
	if len(s.plan.Rank) > 0 && role.Image == nil {
		argv = l.asRank(l.exe, s.plan, argv)
	}
	share := role.PerReplica() // resources are a replica's
	launch := &engine.Launch{
		Argv: argv, Env: l.environ(r, s), Dir: l.workdir(r, role), Joined: s.plan.Joined, Health: healthOf(role, s.listen), Teardown: l.teardownOf(&r.Spec, s.Task),
		Memory: int64(role.Resources.Memory) / int64(share), CPUs: role.Resources.CPUs / float64(share),
	}
	if role.Image != nil {
		l.contain(launch, r, s)
	}
	setUp(launch, &r.Spec, s.Task)
	return launch
}

// argv is the command; a script runs in the task's shell. A shell that is given
// one simple command becomes it, so that signals and exit codes are its own.
func (l *launcher) argv(role *job.Role) []string {
	if role.Run != "" {
		return []string{l.shell, "-e", "-c", role.Run}
	}
	return slices.Concat(role.Command, role.Args)
}

// workdir is where a task starts: what its role says, else the run's copy of
// the code, else the caller's folder.
func (l *launcher) workdir(r *run.Run, role *job.Role) string {
	base := r.Origin.Dir
	if r.Origin.Code != "" {
		base = filepath.Join(l.dir, codeDir)
	}
	if role.Workdir == "" {
		return base
	}
	if filepath.IsAbs(role.Workdir) {
		return role.Workdir
	}
	return filepath.Join(base, role.Workdir)
}

// environ is everything a task sees. What the user says wins over what we
// suggest; what makes the rendezvous wins over all.
func (l *launcher) environ(r *run.Run, s start) []string {
	env := map[string]string{"PYTHONUNBUFFERED": "1"}
	role := r.Spec.Roles[s.Task.Role]
	for _, kv := range l.private.Env {
		if k, v, ok := strings.Cut(kv, "="); ok && role.Image == nil { // an image has its own
			env[k] = v
		}
	}
	if _, set := env["OMP_NUM_THREADS"]; !set {
		env["OMP_NUM_THREADS"] = strconv.Itoa(l.threads(r, role))
	}
	maps.Copy(env, role.Env)
	maps.Copy(env, l.private.RoleEnv[s.Task.Role])
	if gpus := devices(r.Grant, s.Task, s.plan); len(gpus) > 0 {
		if role.Image != nil {
			gpus = renumbered(gpus)
		}
		env["CUDA_VISIBLE_DEVICES"] = strings.Join(gpus, ",")
	}
	maps.Copy(env, l.own(r, s.Instance))
	maps.Copy(env, portEnv(s.listen))
	maps.Copy(env, s.plan.Env)
	out := make([]string, 0, len(env))
	for _, k := range slices.Sorted(maps.Keys(env)) {
		out = append(out, k+"="+env[k])
	}
	return out
}

// devices are the GPUs that a task may see: its own, and those of the tasks that
// its framework numbers together with it.
func devices(g *run.Grant, t job.Task, plan rendezvous.Plan) (gpus []string) {
	if g == nil {
		return nil
	}
	if plan.Sees == nil {
		return g.GPUs[t.String()]
	}
	for _, other := range plan.Sees {
		gpus = append(gpus, g.GPUs[other.String()]...)
	}
	return gpus
}

// threads shares the cores among the tasks that do the work: libraries take all
// of them each otherwise.
func (l *launcher) threads(r *run.Run, role *job.Role) int {
	if role.Resources.CPUs > 0 {
		return max(1, int(role.Resources.CPUs)/role.PerReplica())
	}
	workers := r.Spec.Replicas("worker")
	if workers == 0 {
		workers = len(r.Spec.Tasks())
	}
	return max(1, l.cores/workers)
}

// own are the variables that every task of every job sees.
func (l *launcher) own(r *run.Run, i job.Instance) map[string]string {
	env := map[string]string{
		"MUSTER_RUN":            r.ID,
		"MUSTER_JOB":            r.Spec.Name,
		"MUSTER_ATTEMPT":        strconv.Itoa(i.Attempt),
		"MUSTER_ROLE":           i.Task.Role,
		"MUSTER_TASK":           i.Task.String(),
		"MUSTER_TASK_INDEX":     strconv.Itoa(i.Task.Index),
		"MUSTER_OUTPUT_DIR":     filepath.Join(l.dir, outputsDir),
		"MUSTER_CHECKPOINT_DIR": checkpointDir(&r.Spec, l.dir),
	}
	if r.Group != nil {
		env["MUSTER_GROUP"] = r.Group.ID
		env["MUSTER_GROUP_DIR"] = filepath.Join(l.dir, "..", "..", "groups", r.Group.ID)
	}
	return env
}
