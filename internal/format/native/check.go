package native

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

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
		// A field that seems to be missing may be a misspelt one.
		if f.Missing && before > 0 {
			continue
		}
		at := d.locate(f.Path)
		if (&report{findings: r.findings[:before]}).touches(at.trail) {
			continue
		}
		at.bad("%s", suggest(f.Text, f.Word, f.Known))
	}
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
