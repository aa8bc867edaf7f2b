package native

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A value is a part of the file after aliases and merge keys: what the rest of
// the package reads.
type value struct {
	pos
	kind    yaml.Kind // ScalarNode, SequenceNode or MappingNode
	tag     string    // of a scalar, as YAML 1.2 reads it: !!int
	text    string    // of a scalar, as it was written
	quoted  bool
	members []member
	items   []*value
}

// A member is a key of a mapping and its value.
type member struct {
	pos
	name  string
	value *value
}

func (v *value) null() bool { return v.kind == yaml.ScalarNode && v.tag == "!!null" }

// member returns the value of a key, nil if there is none.
func (v *value) member(name string) *value {
	for _, m := range v.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// what names the kind of a value for a reader.
func (v *value) what() string {
	switch {
	case v.null():
		return "nothing"
	case v.kind == yaml.MappingNode:
		return "a map"
	case v.kind == yaml.SequenceNode:
		return "a list"
	}
	return quote(v.text)
}

// load returns the file's one document, or nil when the report says why not.
func load(r *report, data []byte) *value {
	if len(data) > maxSize {
		r.add(pos{}, nil, "the file has %d bytes; a job file has at most %d", len(data), maxSize)
		return nil
	}
	var doc, next yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		r.add(pos{}, nil, "the file is empty; write at least: run: COMMAND")
		return nil
	case err != nil:
		r.syntax(err)
		return nil
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		r.add(pos{next.Line, next.Column}, nil, "a second document begins here; a job file has one")
		return nil
	case !errors.Is(err, io.EOF):
		r.syntax(err)
		return nil
	}
	l := &loader{r: r, open: map[*yaml.Node]bool{}}
	root := l.value(doc.Content[0], nil, 0)
	if l.stopped {
		return nil
	}
	return root
}

// fromZero are the errors whose lines the library counts from 0.
var fromZero = []string{
	"did not find expected key", "did not find expected '-' indicator", "did not find expected ',' or",
	"did not find expected node content", "did not find expected <document start>",
}

// syntax reports an error of the YAML library, which has the line in its text.
func (r *report) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var line int
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
	}
	if slices.ContainsFunc(fromZero, func(s string) bool { return strings.HasPrefix(text, s) }) {
		line++
	}
	r.add(pos{line: line}, nil, "not YAML: %s", text)
}

// A loader turns YAML nodes into values. It counts every value it makes, also
// through aliases, so that a small file cannot become a large tree.
type loader struct {
	r       *report
	count   int
	open    map[*yaml.Node]bool // anchors that are being loaded
	stopped bool                // for good: the tree is not to be used
}

func (l *loader) stop(n *yaml.Node, t *trail, format string, args ...any) {
	if !l.stopped {
		l.r.add(pos{n.Line, n.Column}, t, format, args...)
	}
	l.stopped = true
}

func (l *loader) value(n *yaml.Node, t *trail, depth int) *value {
	if n.Kind == yaml.AliasNode {
		if l.open[n.Alias] {
			l.stop(n, t, "*%s contains itself", n.Value)
			return &value{}
		}
		n = n.Alias
	}
	v := &value{pos: pos{n.Line, n.Column}, kind: n.Kind, tag: n.ShortTag(), text: n.Value}
	v.quoted = n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	l.count++
	switch {
	case l.count > maxValues:
		l.stop(n, nil, "the file has more than %d values, counting what its aliases repeat", maxValues)
	case depth > maxDepth:
		l.stop(n, nil, "nested more than %d levels deep", maxDepth)
	}
	if l.stopped {
		return v
	}
	l.checkTag(v, t)
	if n.Anchor != "" {
		l.open[n] = true
		defer delete(l.open, n)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			v.items = append(v.items, l.value(item, t.item(i), depth+1))
		}
	case yaml.MappingNode:
		l.mapping(v, n, t, depth)
	}
	return v
}

// checkTag refuses tags that would change what a value is.
func (l *loader) checkTag(v *value, t *trail) {
	switch v.tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!map", "!!seq":
	case "!!merge": // a plain << that is no key
		v.tag = "!!str"
	default:
		l.r.add(v.pos, t, "the tag %s is not supported; leave it out", quote(v.tag))
	}
}

// mapping loads the members of a map: its own keys first, then what << brings
// and the map does not have.
func (l *loader) mapping(v *value, n *yaml.Node, t *trail, depth int) {
	lines := map[string]int{}
	var merge *yaml.Node
	for i := 0; i+1 < len(n.Content) && !l.stopped; i += 2 {
		k, content := n.Content[i], n.Content[i+1]
		merges := k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge"
		name, ok := l.key(k, t)
		if !ok {
			continue
		}
		if first := lines[name]; first > 0 {
			l.r.add(pos{k.Line, k.Column}, t.then(name), "given twice; first on line %d", first)
			continue
		}
		lines[name] = k.Line
		if merges {
			merge = content
			continue
		}
		v.members = append(v.members, member{pos{k.Line, k.Column}, name, l.value(content, t.then(name), depth+1)})
	}
	if merge != nil {
		l.merge(v, l.value(merge, t.then("<<"), depth+1), t)
	}
}

// merge adds to v the members it lacks; earlier sources win over later ones.
func (l *loader) merge(v, from *value, t *trail) {
	sources := []*value{from}
	if from.kind == yaml.SequenceNode {
		sources = from.items
	}
	has := map[string]bool{}
	for _, m := range v.members {
		has[m.name] = true
	}
	for _, s := range sources {
		if s.kind != yaml.MappingNode {
			l.r.add(s.pos, t.then("<<"), "want a map, or a list of maps, found %s", s.what())
			continue
		}
		for _, m := range s.members {
			if !has[m.name] {
				has[m.name] = true
				v.members = append(v.members, m)
			}
		}
	}
}

// key returns the name that a key stands for.
func (l *loader) key(n *yaml.Node, t *trail) (string, bool) {
	at := pos{n.Line, n.Column}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind != yaml.ScalarNode:
		l.r.add(at, t, "a key must be text, not a map or a list")
	case n.ShortTag() == "!!null":
		l.r.add(at, t, "a key is missing before the colon")
	case strings.ContainsRune(n.Value, 0):
		l.r.add(at, t, "a key has a NUL character")
	default:
		return n.Value, true
	}
	return "", false
}
