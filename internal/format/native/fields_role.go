package native

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"muster.dev/muster/internal/job"
)

// roleTable is what a role may have; at the top, the defaults of every role.
var roleTable = table[job.Role]{
	as("replicas", whole, func(r *job.Role) *int { return &r.Replicas }),
	as("procs", procs, func(r *job.Role) *string { return &r.Procs }),
	as("run", text, func(r *job.Role) *string { return &r.Run }),
	as("command", list(text), func(r *job.Role) *[]string { return &r.Command }),
	as("args", list(text), func(r *job.Role) *[]string { return &r.Args }),
	as("setup", text, func(r *job.Role) *string { return &r.Setup }),
	as("teardown", text, func(r *job.Role) *string { return &r.Teardown }),
	as("workdir", word, func(r *job.Role) *string { return &r.Workdir }),
	{"env", readEnv},
	as("env_file", word, func(r *job.Role) *string { return &r.EnvFile }),
	as("image", optional(either(short(word, imageName), object(imageTable))), func(r *job.Role) **job.Image { return &r.Image }),
	as("container", optional(object(containerTable)), func(r *job.Role) **job.Container { return &r.Container }),
	as("resources", object(resourcesTable), func(r *job.Role) *job.Resources { return &r.Resources }),
	as("volumes", list(either(volume, object(volumeTable))), func(r *job.Role) *[]job.Volume { return &r.Volumes }),
	as("ports", list(whole), func(r *job.Role) *[]int { return &r.Ports }),
	as("health", optional(object(healthTable)), func(r *job.Role) **job.Health { return &r.Health }),
	as("place", optional(object(placeTable)), func(r *job.Role) **job.Place { return &r.Place }),
	as("restart", optional(object(roleRestartTable)), func(r *job.Role) **job.RoleRestart { return &r.Restart }),
	as("kubernetes", dict(anything), func(r *job.Role) *map[string]any { return &r.Kubernetes }),
}

var imageTable = table[job.Image]{
	as("name", word, imageName),
	as("pull", word, func(i *job.Image) *string { return &i.Pull }),
	as("auth", word, func(i *job.Image) *string { return &i.Auth }),
}

func imageName(i *job.Image) *string { return &i.Name }

var containerTable = table[job.Container]{
	as("user", word, func(c *job.Container) *string { return &c.User }),
	as("network", word, func(c *job.Container) *string { return &c.Network }),
	as("entrypoint", list(text), func(c *job.Container) *[]string { return &c.Entrypoint }),
	as("privileged", boolean, func(c *job.Container) *bool { return &c.Privileged }),
	as("options", list(text), func(c *job.Container) *[]string { return &c.Options }),
}

var resourcesTable = table[job.Resources]{
	as("cpus", number, func(r *job.Resources) *float64 { return &r.CPUs }),
	as("memory", above0(size), func(r *job.Resources) *job.Bytes { return &r.Memory }),
	as("gpus", whole, func(r *job.Resources) *int { return &r.GPUs }),
	as("gpu_type", word, func(r *job.Resources) *string { return &r.GPUType }),
	as("shm", above0(size), func(r *job.Resources) *job.Bytes { return &r.Shm }),
	as("disk", above0(size), func(r *job.Resources) *job.Bytes { return &r.Disk }),
	as("infiniband", boolean, func(r *job.Resources) *bool { return &r.Infiniband }),
	as("custom", dict(whole64), func(r *job.Resources) *map[string]int64 { return &r.Custom }),
}

var volumeTable = table[job.Volume]{
	as("source", word, func(v *job.Volume) *string { return &v.Source }),
	as("path", word, func(v *job.Volume) *string { return &v.Path }),
	as("read_only", boolean, func(v *job.Volume) *bool { return &v.ReadOnly }),
	as("type", word, func(v *job.Volume) *string { return &v.Type }),
	as("options", list(text), func(v *job.Volume) *[]string { return &v.Options }),
}

var healthTable = table[job.Health]{
	as("http", word, func(h *job.Health) *string { return &h.HTTP }),
	as("tcp", word, func(h *job.Health) *string { return &h.TCP }),
	as("command", list(text), func(h *job.Health) *[]string { return &h.Command }),
	as("every", above0(duration), func(h *job.Health) *job.Duration { return &h.Every }),
	as("timeout", above0(duration), func(h *job.Health) *job.Duration { return &h.Timeout }),
	as("failures", whole, func(h *job.Health) *int { return &h.Failures }),
	as("delay", duration, func(h *job.Health) *job.Duration { return &h.Delay }),
}

var placeTable = table[job.Place]{
	as("labels", dict(text), func(p *job.Place) *map[string]string { return &p.Labels }),
	as("nodes", list(word), func(p *job.Place) *[]string { return &p.Nodes }),
	as("exclude", list(word), func(p *job.Place) *[]string { return &p.Exclude }),
	as("pack", word, func(p *job.Place) *string { return &p.Pack }),
	as("spread", boolean, func(p *job.Place) *bool { return &p.Spread }),
}

var roleRestartTable = table[job.RoleRestart]{
	as("scope", word, func(r *job.RoleRestart) *string { return &r.Scope }),
	as("when", word, func(r *job.RoleRestart) *string { return &r.When }),
}

// procs is a whole number, or gpus for as many as the replica has.
func procs(c cursor, to *string) {
	if c.describes(func() schema { return schema{"anyOf": []any{describe(whole), schema{"const": "gpus"}}} }) {
		return
	}
	if c.v.text == "gpus" {
		*to = "gpus"
		return
	}
	if c.v.tag == "!!str" && !c.v.quoted {
		c.bad("%s is neither a whole number nor gpus", quote(c.v.text))
		return
	}
	n := 1
	whole(c, &n)
	*to = strconv.Itoa(n)
}

// volume is source:path or source:path:ro.
func volume(c cursor, to *job.Volume) {
	s, ok := c.scalar("source:path")
	if !ok {
		return
	}
	parts := strings.Split(s, ":")
	readOnly := len(parts) == 3 && parts[2] == "ro"
	if len(parts) != 2 && !readOnly || parts[0] == "" || parts[1] == "" {
		c.bad("%s is not source:path or source:path:ro", quote(s))
		return
	}
	*to = job.Volume{Source: parts[0], Path: parts[1], ReadOnly: readOnly}
}

// readEnv merges by name into what the role has already. A name without a
// value is taken from the submitter's environment.
func readEnv(c cursor, to *job.Role) {
	if c.describes(envSchema) || !c.is(yaml.MappingNode, "a map") {
		return
	}
	for _, m := range c.v.members {
		delete(to.Env, m.name)
		to.EnvFrom = slices.DeleteFunc(to.EnvFrom, func(n string) bool { return n == m.name })
		if m.value.null() {
			to.EnvFrom = append(to.EnvFrom, m.name)
			continue
		}
		if to.Env == nil {
			to.Env = map[string]string{}
		}
		var value string
		text(c.at(m), &value)
		to.Env[m.name] = value
	}
	slices.Sort(to.EnvFrom)
	if len(to.EnvFrom) == 0 {
		to.EnvFrom = nil
	}
	if len(to.Env) == 0 {
		to.Env = nil
	}
}
