package native

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/rendezvous"
)

// A draft is a job while it is being read.
type draft struct {
	spec     job.Spec
	top      cursor
	roles    *cursor
	workers  *int
	servers  *int
	defaults []member // fields of a role that stand at the top

	// elsewhere is where a field of the spec stands that has a short form in
	// another place: roles.worker.replicas as workers.
	elsewhere map[string]cursor
}

// readJob reads the fields that stand at the top of a job.
func readJob(c cursor) *draft {
	d := &draft{top: c, elsewhere: map[string]cursor{}}
	for _, m := range c.v.members {
		switch {
		case strings.HasPrefix(m.name, "x-"):
		case jobTable.read(c, m, d):
		case roleTable.has(m.name):
			d.defaults = append(d.defaults, m)
		default:
			c.badKey(m, unknown(m.name, slices.Concat(jobTable.names(), roleTable.names())))
		}
	}
	d.buildRoles()
	return d
}

// unknown is for fields of a job or a role, where those of resources are
// often tried.
func unknown(name string, known []string) string {
	if resourcesTable.has(name) {
		return fmt.Sprintf("unknown field; did you mean %q?", "resources."+name)
	}
	return suggest("unknown field", name, known)
}

// buildRoles reads every role that the job has. The framework may follow from
// the sizes of the roles, and one more role from the framework.
func (d *draft) buildRoles() {
	named := d.namedRoles()
	if !d.affordable(named) {
		return
	}
	d.spec.Roles = map[string]*job.Role{}
	for _, m := range named {
		d.addRole(m.name, &m)
	}
	if d.workers != nil || len(named) == 0 {
		d.size("workers", "worker", d.workers)
	}
	if d.servers != nil {
		d.size("servers", rendezvous.FactsOf(d.spec.Framework.Name).Servers, d.servers)
	}
	if d.top.v.member("framework") == nil {
		name, _ := rendezvous.Infer(d.spec.TaskCount("server"), d.spec.TaskCount("worker"))
		d.spec.Framework = job.Framework{Name: name, Inferred: true}
	}
	for _, name := range rendezvous.FactsOf(d.spec.Framework.Name).Adds {
		if d.spec.Roles[name] == nil {
			d.addRole(name, nil).Replicas = 1
		}
	}
}

// namedRoles returns the members of roles.
func (d *draft) namedRoles() []member {
	if d.roles == nil || !d.roles.is(yaml.MappingNode, "a map of roles") {
		return nil
	}
	return d.roles.v.members
}

// affordable refuses a file whose defaults, repeated by every role, make more
// of it than a file may have.
func (d *draft) affordable(named []member) bool {
	weight := 0
	for _, m := range d.defaults {
		weight += m.value.weight()
	}
	if (len(named)+3)*weight > 3*maxValues {
		d.top.r.add(d.roles.v.pos, d.roles.trail, "%d roles with so many defaults are too many", len(named))
		return false
	}
	return true
}

// weight counts the values in v.
func (v *value) weight() int {
	n := 1
	for _, m := range v.members {
		n += m.value.weight()
	}
	for _, i := range v.items {
		n += i.weight()
	}
	return n
}

// addRole reads a role: the defaults, then what it says itself, if anything.
// It reads the defaults anew for each role, so that no two share a value.
func (d *draft) addRole(name string, own *member) *job.Role {
	r := &job.Role{Replicas: 1}
	d.top.r.muted = len(d.spec.Roles) > 0
	for _, m := range d.defaults {
		roleTable.read(d.top, m, r)
	}
	d.top.r.muted = false
	d.spec.Roles[name] = r
	if own != nil && !own.value.null() {
		readRole(d.roles.at(*own), r)
	}
	return r
}

// readRole reads what a role says over the defaults in r.
func readRole(c cursor, r *job.Role) {
	if !c.is(yaml.MappingNode, "a map") {
		return
	}
	if c.v.member("run") != nil {
		r.Command, r.Args = nil, nil
	}
	if c.v.member("command") != nil || c.v.member("args") != nil {
		r.Run = ""
	}
	for _, m := range c.v.members {
		switch {
		case roleTable.read(c, m, r):
		case jobTable.has(m.name):
			c.badKey(m, "is a field of the job, not of a role; move it to the top")
		default:
			c.badKey(m, unknown(m.name, roleTable.names()))
		}
	}
}

// size gives a role the number that a short form at the top says.
func (d *draft) size(field, role string, n *int) {
	r := d.spec.Roles[role]
	if r == nil {
		if n != nil && *n == 0 && role != "worker" {
			return
		}
		r = d.addRole(role, nil)
	}
	if n == nil {
		return
	}
	short := cursor{d.top.r, d.top.trail.then(field), d.top.v.member(field)}
	if d.roles != nil {
		if own := d.roles.v.member(role); own != nil && own.member("replicas") != nil {
			short.bad("also given as roles.%s.replicas; keep one", role)
		}
	}
	r.Replicas = *n
	d.elsewhere["roles."+role+".replicas"] = short
	if d.roles == nil {
		d.elsewhere["roles"] = short
	}
}
