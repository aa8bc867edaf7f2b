package native

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"muster.dev/muster/internal/job"
)

// ParseFile reads a job file that may be a group: it returns a job or a group.
func ParseFile(name string, data []byte, sets ...string) (*job.Spec, *job.Group, error) {
	r := &report{file: name}
	root := loadWith(r, data, sets)
	if root == nil {
		return nil, nil, r.err()
	}
	if root.kind != yaml.MappingNode || root.member("jobs") == nil {
		s, err := parse(r, root)
		return s, nil, err
	}
	g := readGroup(cursor{r: r, v: root})
	if err := r.err(); err != nil {
		return nil, nil, err
	}
	return nil, g, nil
}

// groupTable is what only a group has at its top. Every other field there is
// the default of every job.
var groupTable = table[job.Group]{
	as("name", text, func(g *job.Group) *string { return &g.Name }),
	as("max_parallel", positive, func(g *job.Group) *int { return &g.MaxParallel }),
	as("stop_on_failure", boolean, func(g *job.Group) *bool { return &g.StopOnFailure }),
}

func readGroup(c cursor) *job.Group {
	g := &job.Group{Jobs: map[string]*job.Spec{}, Needs: map[string]map[string]string{}}
	defaults := readGroupTop(c, g)
	weight := 0
	for _, m := range defaults {
		weight += m.value.weight()
	}
	jobs := cursor{c.r, c.trail.then("jobs"), c.v.member("jobs")}
	if !jobs.is(yaml.MappingNode, "a map of jobs") {
		return g
	}
	if len(jobs.v.members) == 0 {
		jobs.bad("a group needs at least one job")
	}
	if len(jobs.v.members)*(weight+1) > 3*maxValues {
		jobs.bad("%d jobs with so many defaults are too many", len(jobs.v.members))
		return g
	}
	for _, m := range jobs.v.members {
		readGroupJob(jobs.at(m), m.name, defaults, g)
	}
	checkNeeds(jobs, g)
	return g
}

// readGroupTop reads what a group has at its top, and returns the defaults of
// its jobs.
func readGroupTop(c cursor, g *job.Group) (defaults []member) {
	for _, m := range c.v.members {
		switch {
		case m.name == "jobs", strings.HasPrefix(m.name, "x-"), groupTable.read(c, m, g):
		case m.name == "needs":
			c.badKey(m, "is for a job under jobs, not for the group")
		default:
			defaults = append(defaults, m)
		}
	}
	return defaults
}

// readGroupJob reads one job over the defaults of the group.
func readGroupJob(c cursor, name string, defaults []member, g *job.Group) {
	if !job.IsLabel(name) {
		c.bad("%s is no name for a job: lower-case letters, digits and -", quote(name))
		return
	}
	if !c.is(yaml.MappingNode, "a map of fields") {
		return
	}
	for _, m := range c.v.members {
		if m.name == "needs" {
			g.Needs[name] = readNeeds(c.at(m))
		}
	}
	d := readJob(withDefaults(c, defaults))
	d.check()
	g.Jobs[name] = &d.spec
}

// withDefaults is a job of a group as it would stand alone.
func withDefaults(c cursor, defaults []member) cursor {
	merged := *c.v
	merged.members = slices.DeleteFunc(slices.Clone(c.v.members), func(m member) bool { return m.name == "needs" })
	for _, m := range defaults {
		merged.members = withDefault(merged.members, m)
	}
	return cursor{c.r, c.trail, &merged}
}

// withDefault adds a member that a job does not have itself; variables are
// merged one by one.
func withDefault(own []member, m member) []member {
	at := slices.IndexFunc(own, func(o member) bool { return o.name == m.name })
	switch {
	case at < 0:
		return append(own, m)
	case m.name != "env" || own[at].value.kind != yaml.MappingNode || m.value.kind != yaml.MappingNode:
		return own
	}
	env := *own[at].value
	env.members = slices.Clone(env.members)
	for _, v := range m.value.members {
		if env.member(v.name) == nil {
			env.members = append(env.members, v)
		}
	}
	own[at].value = &env
	return own
}

// readNeeds reads which jobs a job needs: a name, a list of names, or a map of
// names to success or done.
func readNeeds(c cursor) map[string]string {
	needs := map[string]string{}
	switch c.v.kind {
	case yaml.MappingNode:
		for _, m := range c.v.members {
			var how string
			word(c.at(m), &how)
			if how != "success" && how != "done" {
				c.at(m).bad("%s is neither success nor done", quote(how))
			}
			needs[m.name] = how
		}
	case yaml.SequenceNode:
		var names []string
		list(word)(c, &names)
		for _, n := range names {
			needs[n] = "success"
		}
	default:
		var name string
		word(c, &name)
		needs[name] = "success"
	}
	return needs
}

// checkNeeds reports names that are no jobs, and jobs that wait for each other.
func checkNeeds(jobs cursor, g *job.Group) {
	names := slices.Sorted(maps.Keys(g.Jobs))
	whole := len(names) == len(jobs.v.members)
	for _, m := range jobs.v.members {
		for _, need := range slices.Sorted(maps.Keys(g.Needs[m.name])) {
			if jobs.v.member(need) == nil {
				at := cursor{jobs.r, jobs.at(m).trail.then("needs"), m.value.member("needs")}
				whole = false
				at.bad("%s", suggest("there is no job "+quote(need), need, names))
			}
		}
	}
	if !whole { // who waits for whom is then not known
		return
	}
	if _, err := g.Order(); err != nil {
		jobs.bad("%v", err)
	}
}
