package native

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/rendezvous"
)

// check reports the rules that the spec breaks, where the file breaks them.
func (d *draft) check() {
	if d.spec.Roles == nil {
		return
	}
	r := d.top.r
	before := len(r.findings)
	for _, f := range rendezvous.Faults(&d.spec) {
		at := d.locate(f.Path)
		had := &report{findings: r.findings[:before]}
		if f.Missing == nil && had.touches(at.trail) || f.Missing != nil && d.thereAfterAll(had, f, at.trail) {
			continue
		}
		at.bad("%s", suggest(f.Text, f.Word, f.Known))
	}
}

// manyFindings is from where on nobody asks what else is missing.
const manyFindings = 100

// thereAfterAll says that what seems to be missing may be there: misspelt, or
// with a value that could not be read.
func (d *draft) thereAfterAll(had *report, f job.Fault, at *trail) bool {
	holder := at
	if slices.Contains(f.Missing, at.step) {
		holder = at.up
	}
	if len(had.findings) > manyFindings || had.covers(at) || had.mayHave(holder, f.Missing) {
		return true
	}
	if f.Path[len(f.Path)-1] != "run" {
		return false
	}
	// A program may stand at the top and in any role; the framework may bring it.
	top := d.top.trail
	if had.covers(top.then("roles")) || had.mayHave(top, append([]string{"framework", "roles", "jobs"}, f.Missing...)) {
		return true
	}
	return slices.ContainsFunc(d.namedRoles(), func(m member) bool {
		role := top.then("roles").then(m.name)
		return had.covers(role) || had.mayHave(role, f.Missing)
	})
}

// locate finds where the file says what stands at a path of the spec: there,
// at another place that is short for it, or at the top, for every role.
func (d *draft) locate(path []string) cursor {
	if c, ok := d.elsewhere[strings.Join(path, ".")]; ok {
		return c
	}
	c, n := d.top.walk(path)
	if path[0] != "roles" || len(path) < 3 || n == len(path) {
		return c
	}
	field := path[2:]
	shared, m := d.top.walk(field)
	switch {
	case m == len(field), n <= 2 && m > 0, n < 2:
		return shared
	}
	return c
}

// walk follows a path as far as the file goes, and says how many steps that
// was. The cursor has the whole path, and the last value on it.
func (c cursor) walk(path []string) (cursor, int) {
	n, lost := 0, false
	for _, step := range path {
		c.trail = c.trail.then(step)
		next := c.v.step(step)
		lost = lost || next == nil
		if !lost {
			c.v = next
			n++
		}
	}
	return c, n
}

// step returns the member or item of v that a step of a path names.
func (v *value) step(step string) *value {
	if v.kind == yaml.MappingNode {
		return v.member(step)
	}
	i, err := strconv.Atoi(strings.Trim(step, "[]"))
	if err != nil || i >= len(v.items) {
		return nil
	}
	return v.items[i]
}
