//go:build linux

package control

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
)

var _ run.Planner = (*Plane)(nil)

// Plan implements run.Planner.
func (p *Plane) Plan(ctx context.Context, s run.Submission) (run.Plan, error) {
	if err := p.accept(&s); err != nil {
		return run.Plan{}, err
	}
	caps := p.config.Engine.Capabilities()
	r := run.Run{ID: s.Spec.Name + "-xxxx", Spec: s.Spec, Phase: run.Pending, Engine: caps.Name, Origin: s.Origin}
	r.Origin.RunDir = p.runDir(r.ID)
	if err := p.admit(&r); err != nil {
		return run.Plan{}, err
	}
	if s.Spec.Code != nil && r.Origin.Code == "" {
		r.Origin.Code = "<frozen at submit>"
	}
	r.Grant = &run.Grant{GPUs: map[string][]string{}}
	for _, t := range r.Spec.Tasks() {
		r.Grant.GPUs[t.String()] = slices.Repeat([]string{"<gpu>"}, r.Spec.GPUsOf(t))
	}
	plan := run.Plan{Run: r, Notes: unused(&r.Spec, caps.Name), Adds: caps.Adds}
	if err := p.noteShared(ctx, &r); err != nil {
		return run.Plan{}, err
	}
	plan.Notes = append(plan.Notes, r.Notes...)
	var err error
	plan.Tasks, err = p.planTasks(&r, s)
	return plan, err
}

// planTasks works out how every task would be started. The rendezvous is given
// numbers for ports that nothing else has, which are then put into words.
func (p *Plane) planTasks(r *run.Run, s run.Submission) ([]run.PlannedTask, error) {
	fw, err := rendezvous.ByName(r.Spec.Framework.Name)
	if err != nil {
		return nil, err
	}
	cluster, listen, words := imagine(fw, &r.Spec)
	l := &launch.Launcher{Dir: r.Origin.RunDir, Private: p.masked(r, s)}
	node := p.config.Engine.Capabilities().Node
	var tasks []run.PlannedTask
	for _, t := range r.Spec.Tasks() {
		plan, err := fw.Launch(&r.Spec, cluster, t)
		if err != nil {
			return nil, err
		}
		start := l.Launch(r, launch.Start{Instance: job.Instance{Task: t, Attempt: 1, Try: 1}, Plan: plan, Listen: listen[t], Node: node, Beside: r.Spec.Tasks()})
		setup, command := launch.Parts(start)
		planned := run.PlannedTask{
			Task: t.String(), Setup: setup, Teardown: r.Spec.Roles[t.Role].Teardown, Command: slices.Clone(command), Dir: start.Dir, Env: addedEnv(start, s.Env),
			Ports: len(cluster[t].Ports), Listen: r.Spec.Roles[t.Role].Ports, GPUs: r.Spec.GPUsOf(t),
		}
		if start.Container != nil {
			planned.Image = start.Container.Image
		}
		for i := range planned.Env {
			planned.Env[i] = words.Replace(planned.Env[i])
		}
		for i := range planned.Command {
			planned.Command[i] = words.Replace(planned.Command[i])
		}
		tasks = append(tasks, planned)
	}
	return tasks, nil
}

// imagine gives every task an address and ports, and says how to put those into
// words.
func imagine(fw rendezvous.Framework, s *job.Spec) (rendezvous.Cluster, map[job.Task][]int, *strings.Replacer) {
	const first = 900000001
	cluster, listen, words := rendezvous.Cluster{}, map[job.Task][]int{}, []string{}
	next := func(name string) int {
		port := first + len(words)/2
		words = append(words, strconv.Itoa(port), name)
		return port
	}
	for _, t := range s.Tasks() {
		m := rendezvous.Member{Addr: "127.0.0.1"}
		meet, own := fw.Ports(s, t), s.Roles[t.Role].Ports
		for i := range meet {
			m.Ports = append(m.Ports, next(portWords(t, i, meet+len(own))))
		}
		cluster[t] = m
		for i, port := range own {
			if port == 0 {
				port = next(portWords(t, meet+i, meet+len(own)))
			}
			listen[t] = append(listen[t], port)
		}
	}
	return cluster, listen, strings.NewReplacer(words...)
}

func portWords(t job.Task, i, n int) string {
	if n == 1 {
		return fmt.Sprintf("<port of %s>", t)
	}
	return fmt.Sprintf("<port %d of %s>", i+1, t)
}

// masked is what roles are given beside the job, without the values of what is
// not written in it.
func (p *Plane) masked(r *run.Run, s run.Submission) launch.Private {
	v := launch.Private{}
	for name, secret := range r.Spec.Secrets {
		switch {
		case secret.As == "" && len(imagesWith(&r.Spec, name)) > 0: // no task sees it
		case secret.As == "":
			v.AddToAll(&r.Spec, name, "<secret>")
		default:
			v.AddToAll(&r.Spec, "MUSTER_SECRETS_DIR", filepath.Join(r.Origin.RunDir, launch.SecretsDir))
		}
	}
	for n, in := range r.Spec.Inputs {
		if in.Env != "" {
			v.AddToAll(&r.Spec, in.Env, filepath.Join(r.Origin.RunDir, launch.InputsDir, inputName(in, n)))
		}
	}
	p.outputEnv(r, &v)
	for role, env := range s.RoleEnv {
		if v.RoleEnv == nil {
			v.RoleEnv = map[string]map[string]string{}
		}
		if v.RoleEnv[role] == nil {
			v.RoleEnv[role] = map[string]string{}
		}
		for k := range env {
			v.RoleEnv[role][k] = "<not shown>"
		}
	}
	return v
}

// addedEnv is a task's environment without what it would have anyway: what we
// only suggest stays away where the caller has it.
func addedEnv(start *engine.Launch, inherited []string) []string {
	suggested := []string{"PYTHONUNBUFFERED", "OMP_NUM_THREADS"}
	return slices.DeleteFunc(slices.Clone(start.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return start.Container == nil && slices.Contains(suggested, name) &&
			slices.ContainsFunc(inherited, func(have string) bool { return strings.HasPrefix(have, name+"=") })
	})
}

// unused says what a job has for other engines.
func unused(s *job.Spec, engine string) []string {
	var fields []string
	note := func(there bool, field string) {
		if there {
			fields = append(fields, field)
		}
	}
	note(len(s.Kubernetes) > 0, "kubernetes")
	note(len(s.YARN) > 0, "yarn")
	note(len(s.Slurm) > 0, "slurm")
	note(len(s.SSH) > 0, "ssh")
	note(s.Queue != "", "queue")
	for _, name := range s.RoleNames() {
		note(len(s.Roles[name].Kubernetes) > 0, "roles."+name+".kubernetes")
		note(s.Roles[name].Place != nil, "roles."+name+".place")
	}
	switch len(fields) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("%s is not used by %s", fields[0], engine)}
	}
	return []string{fmt.Sprintf("not used by %s: %s", engine, strings.Join(fields, ", "))}
}
