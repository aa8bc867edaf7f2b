package launch

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
)

// environ is everything a task sees. What the user says wins over what we
// suggest; what makes the rendezvous wins over all.
func (l *Launcher) environ(r *run.Run, s Start) []string {
	env := map[string]string{"PYTHONUNBUFFERED": "1"}
	role := r.Spec.Roles[s.Task.Role]
	for _, kv := range l.Private.Env {
		if k, v, ok := strings.Cut(kv, "="); ok && role.Image == nil { // an image has its own
			env[k] = v
		}
	}
	if _, set := env["OMP_NUM_THREADS"]; !set {
		env["OMP_NUM_THREADS"] = strconv.Itoa(threads(role, s))
	}
	maps.Copy(env, role.Env)
	maps.Copy(env, l.Private.RoleEnv[s.Task.Role])
	if gpus := devices(r.Grant, s.Task, s.Plan); len(gpus) > 0 {
		if role.Image != nil {
			gpus = renumbered(gpus)
		}
		env["CUDA_VISIBLE_DEVICES"] = strings.Join(gpus, ",")
	}
	maps.Copy(env, l.own(r, s.Instance))
	maps.Copy(env, portEnv(s.Listen))
	maps.Copy(env, s.Plan.Env)
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

// threads shares the cores of a node among the tasks there that do the work:
// libraries take all of them each otherwise.
func threads(role *job.Role, s Start) int {
	if role.Resources.CPUs > 0 {
		return max(1, int(role.Resources.CPUs)/role.PerReplica())
	}
	workers := 0
	for _, t := range s.Beside {
		if t.Role == "worker" {
			workers++
		}
	}
	if workers == 0 {
		workers = len(s.Beside)
	}
	return max(1, s.Node.Cores/max(workers, 1))
}

// own are the variables that every task of every job sees.
func (l *Launcher) own(r *run.Run, i job.Instance) map[string]string {
	env := map[string]string{
		"MUSTER_RUN":            r.ID,
		"MUSTER_JOB":            r.Spec.Name,
		"MUSTER_ATTEMPT":        strconv.Itoa(i.Attempt),
		"MUSTER_ROLE":           i.Task.Role,
		"MUSTER_TASK":           i.Task.String(),
		"MUSTER_TASK_INDEX":     strconv.Itoa(i.Task.Index),
		"MUSTER_OUTPUT_DIR":     filepath.Join(l.Dir, OutputsDir),
		"MUSTER_CHECKPOINT_DIR": Checkpoints(&r.Spec, l.Dir),
	}
	if r.Group != nil {
		env["MUSTER_GROUP"] = r.Group.ID
		env["MUSTER_GROUP_DIR"] = filepath.Join(l.Dir, "..", "..", "groups", r.Group.ID)
	}
	return env
}

// portEnv tells a task which ports are its own.
func portEnv(listen []int) map[string]string {
	if len(listen) == 0 {
		return nil
	}
	words := make([]string, len(listen))
	for i, p := range listen {
		words[i] = strconv.Itoa(p)
	}
	return map[string]string{"MUSTER_PORT": words[0], "MUSTER_PORTS": strings.Join(words, ",")}
}

// renumbered is how GPUs are called in a container that has only these.
func renumbered(gpus []string) []string {
	out := make([]string, len(gpus))
	for i := range gpus {
		out[i] = strconv.Itoa(i)
	}
	return out
}
