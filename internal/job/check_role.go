package job

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

func (c checker) roles(s *Spec) {
	for _, name := range slices.SortedFunc(maps.Keys(s.Roles), CompareRoles) {
		at := c.in("roles", name)
		at.roleName(name, s.Framework.Name)
		at.role(s.Roles[name])
		if image := s.Roles[name].Image; image != nil && image.Auth != "" {
			at.auth(image.Auth, s.Secrets)
		}
	}
}

func (c checker) roleName(name, framework string) {
	c.label(name)
	known := framework == "plain" || slices.Contains(roleOrder, name)
	if known || !slices.Contains(Frameworks, framework) || !IsLabel(name) {
		return
	}
	c.add(Fault{
		Text: "framework " + framework + " has no role " + quote(name) + "; only framework plain takes any name",
		Word: name, Known: roleOrder,
	})
}

func (c checker) role(r *Role) {
	c.in("replicas").between(r.Replicas, 0, MaxReplicas)
	c.procs(r.Procs)
	if n := r.PerReplica(); n > 1 && r.Replicas <= MaxReplicas && r.Replicas*n > MaxReplicas {
		c.in("procs").bad("%d replicas of %d processes are more than %d tasks", r.Replicas, n, MaxReplicas)
	}
	c.commands(r)
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		c.in("env", name).envName(name)
	}
	for _, name := range r.EnvFrom {
		c.in("env", name).envName(name)
	}
	c.image(r.Image)
	c.resources(r.Resources)
	for i, v := range r.Volumes {
		c.in("volumes").item(i).volume(v)
	}
	for i, p := range r.Ports {
		c.in("ports").item(i).between(p, 0, maxPort)
	}
	if r.Health != nil {
		c.in("health").health(*r.Health)
	}
	if r.Place != nil {
		c.in("place").place(*r.Place)
	}
	if r.Restart != nil {
		c.in("restart").scopeAndWhen(r.Restart.Scope, r.Restart.When)
	}
}

func (c checker) envName(name string) {
	if name == "" {
		c.bad("a variable needs a name")
	}
	c.variable(name)
}

func (c checker) procs(procs string) {
	if procs == "" || procs == "gpus" {
		return
	}
	n, err := strconv.Atoi(procs)
	if err != nil {
		c.in("procs").bad("%s is neither a whole number nor gpus", quote(procs))
		return
	}
	c.in("procs").between(n, 1, MaxReplicas)
}

func (c checker) commands(r *Role) {
	if r.Run != "" && (r.Command != nil || r.Args != nil) {
		c.in("run").bad("run cannot be given together with command or args; keep one")
	}
	if len(r.Command) > 0 && r.Command[0] == "" {
		c.in("command").item(0).bad("is empty; the first word is the program")
	}
	if r.Command == nil && r.Args != nil && r.Image == nil {
		c.in("args").bad("args alone need an image, whose program takes them; give command too")
	}
}

func (c checker) image(i *Image) {
	if i == nil {
		return
	}
	c = c.in("image")
	if i.Name == "" {
		c.in("name").missing("is needed: which image")
	}
	c.in("pull").oneOf(i.Pull, "missing", "always", "never")
}

func (c checker) auth(name string, secrets map[string]Secret) {
	if _, ok := secrets[name]; ok {
		return
	}
	known := slices.Sorted(maps.Keys(secrets))
	c.in("image", "auth").add(Fault{Text: quote(name) + " is not one of the job's secrets", Word: name, Known: known})
}

func (c checker) resources(r Resources) {
	c = c.in("resources")
	if r.CPUs < 0 {
		c.in("cpus").bad("must not be negative")
	}
	c.in("gpus").between(r.GPUs, 0, MaxReplicas)
	for _, name := range slices.Sorted(maps.Keys(r.Custom)) {
		if r.Custom[name] < 0 {
			c.in("custom", name).bad("must be at least 0, is %d", r.Custom[name])
		}
	}
}

func (c checker) volume(v Volume) {
	if v.Source == "" {
		c.in("source").missing("is needed: a path, or a name to be bound")
	}
	if v.Path == "" {
		c.in("path").missing("is needed: where the task sees it")
	}
}

func (c checker) health(h Health) {
	c.exactlyOne([]bool{h.HTTP != "", h.TCP != "", h.Command != nil}, "http", "tcp", "command")
	c.in("failures").between(h.Failures, 0, MaxReplicas)
}

func (c checker) place(p Place) {
	c.in("pack").oneOf(p.Pack, "node")
	if p.Pack != "" && p.Spread {
		c.in("spread").bad("pack and spread cannot be given together; keep one")
	}
	for i, n := range p.Nodes {
		if slices.Contains(p.Exclude, n) {
			c.in("nodes").item(i).bad("%s is also excluded; keep one", quote(strings.TrimSpace(n)))
		}
	}
}
