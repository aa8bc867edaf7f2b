package native

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// How a job file says that it is a Kubernetes object too.
const (
	apiVersion = "muster.dev/v1alpha1"
	apiKind    = "Job"
)

// A wrapper is a job in the clothes of Kubernetes.
type wrapper struct {
	apiVersion string
	kind       string
	metadata   metadata
	metadataAt cursor
	spec       *cursor
}

type metadata struct {
	name        string
	labels      map[string]string
	annotations map[string]string
}

var wrapperTable = table[wrapper]{
	as("apiVersion", text, func(w *wrapper) *string { return &w.apiVersion }),
	as("kind", text, func(w *wrapper) *string { return &w.kind }),
	{"metadata", func(c cursor, w *wrapper) {
		object(metadataTable)(c, &w.metadata)
		w.metadataAt = c
	}},
	{"spec", func(c cursor, w *wrapper) { w.spec = &c }},
}

var metadataTable = table[metadata]{
	as("name", text, func(m *metadata) *string { return &m.name }),
	as("labels", dict(text), func(m *metadata) *map[string]string { return &m.labels }),
	as("annotations", dict(text), func(m *metadata) *map[string]string { return &m.annotations }),
}

// readFile reads a job, with or without the wrapper. It returns nil if there
// is nothing to read a job from.
func readFile(c cursor) *draft {
	if !c.is(yaml.MappingNode, "a map of fields") {
		return nil
	}
	for _, name := range []string{"apiVersion", "kind", "spec", "metadata"} {
		if c.v.member(name) != nil {
			return readWrapper(c)
		}
	}
	return readJob(c)
}

func readWrapper(c cursor) *draft {
	var w wrapper
	for _, m := range c.v.members {
		switch {
		case strings.HasPrefix(m.name, "x-"), wrapperTable.read(c, m, &w):
		case jobTable.has(m.name), roleTable.has(m.name):
			c.badKey(m, "belongs under spec, as the file has apiVersion, kind and spec")
		default:
			c.badKey(m, suggest("unknown field", m.name, wrapperTable.names()))
		}
	}
	c.expect("apiVersion", w.apiVersion, apiVersion)
	c.expect("kind", w.kind, apiKind)
	if w.spec == nil {
		c.bad("spec is needed: the fields of the job")
		return nil
	}
	if !w.spec.is(yaml.MappingNode, "a map of fields") {
		return nil
	}
	d := readJob(*w.spec)
	d.adopt(w)
	return d
}

// expect checks a field of the wrapper that has one right value.
func (c cursor) expect(name, got, want string) {
	switch v := c.v.member(name); {
	case v == nil:
		c.bad("%s is needed: %s", name, want)
	case got != want && v.kind == yaml.ScalarNode && !v.null():
		c.r.add(v.pos, c.trail.then(name), "must be %s, is %s", want, quote(got))
	}
}

// adopt takes what metadata says into the job; what both say is an error.
func (d *draft) adopt(w wrapper) {
	if w.metadataAt.v == nil {
		return
	}
	for _, m := range w.metadataAt.v.members {
		if d.top.v.member(m.name) != nil && metadataTable.has(m.name) {
			w.metadataAt.badKey(m, "also given as spec."+m.name+"; keep one")
			continue
		}
		d.elsewhere[m.name] = w.metadataAt.at(m)
		switch m.name {
		case "name":
			d.spec.Name = w.metadata.name
		case "labels":
			d.spec.Labels = w.metadata.labels
		case "annotations":
			d.spec.Annotations = w.metadata.annotations
		}
	}
}
