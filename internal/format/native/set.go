package native

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// loadWith loads a file and applies settings, each path=value, before anything
// is read, so that what is wrong with them is said as if the file had it.
func loadWith(r *report, data []byte, sets []string) *value {
	root := load(r, data)
	if root == nil {
		return nil
	}
	r.sets = sets
	for i, set := range sets {
		at := pos{line: -1 - i}
		steps, text, err := splitSet(set)
		if err != nil {
			r.add(at, nil, "%v", err)
			continue
		}
		v := setValue(r, at, text)
		if v == nil {
			continue
		}
		put(r, jobOf(root, steps[0], at), steps, v, at)
	}
	return root
}

// splitSet reads a.b[2].c=value; a step with odd characters stands in quotes.
func splitSet(set string) (steps []string, text string, err error) {
	bad := errors.New("is no path=value, such as limits.run=4h or roles.worker.env.LR=0.1")
	rest := set
	for {
		var step string
		switch {
		case strings.HasPrefix(rest, `"`):
			q, qerr := strconv.QuotedPrefix(rest)
			if qerr != nil {
				return nil, "", bad
			}
			rest = rest[len(q):]
			step, _ = strconv.Unquote(q)
		default:
			end := strings.IndexAny(rest, ".[=")
			if end < 0 {
				return nil, "", bad
			}
			step, rest = rest[:end], rest[end:]
		}
		if step == "" || len(steps) == maxDepth || !isText(step) {
			return nil, "", bad
		}
		steps = append(steps, step)
		for strings.HasPrefix(rest, "[") {
			index, after, ok := strings.Cut(rest[1:], "]")
			if n, nerr := strconv.Atoi(index); !ok || nerr != nil || n < 0 || len(steps) == maxDepth {
				return nil, "", bad
			}
			steps, rest = append(steps, "["+index+"]"), after
		}
		switch {
		case strings.HasPrefix(rest, "="):
			if !isText(rest) {
				return nil, "", errors.New("is not text in UTF-8")
			}
			return steps, rest[1:], nil
		case !strings.HasPrefix(rest, "."):
			return nil, "", bad
		}
		rest = rest[1:]
	}
}

// isText says that a YAML file could have it.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// setValue reads the value of a setting. Lists, maps and quoted text are YAML;
// all else is one plain value as it was written, with colons and all.
func setValue(r *report, at pos, text string) *value {
	if text == "" {
		return &value{pos: at, kind: yaml.ScalarNode, tag: "!!str", quoted: true}
	}
	if !strings.ContainsAny(text[:1], `[{"'`) {
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
		return &value{pos: at, kind: yaml.ScalarNode, tag: n.ShortTag(), text: text}
	}
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader([]byte(text))).Decode(&doc); err != nil || len(text) > maxSize {
		r.add(at, nil, "the value is not YAML: %s", strings.TrimPrefix(fmt.Sprint(err), "yaml: "))
		return nil
	}
	l := &loader{r: r, open: map[*yaml.Node]bool{}}
	before := len(r.findings)
	v := l.value(doc.Content[0], nil, 0)
	for i := before; i < len(r.findings); i++ {
		r.findings[i].at = at
	}
	if l.stopped {
		return nil
	}
	v.moveTo(at)
	return v
}

// moveTo gives v and all in it another place.
func (v *value) moveTo(at pos) {
	v.pos = at
	for i := range v.members {
		v.members[i].pos = at
		v.members[i].value.moveTo(at)
	}
	for _, item := range v.items {
		item.moveTo(at)
	}
}

// jobOf is where the fields of the job stand: at the top, or in a wrapper,
// where metadata has some of them.
func jobOf(root *value, first string, at pos) *value {
	spec := root.member("spec")
	if spec == nil || spec.kind != yaml.MappingNode {
		return root
	}
	if metadataTable.has(first) && spec.member(first) == nil {
		return root.enter("metadata", at)
	}
	return spec
}

// enter returns the map under a key, made if there is none.
func (v *value) enter(name string, at pos) *value {
	for i := range v.members {
		if m := &v.members[i]; m.name == name {
			if m.value.null() {
				m.value = &value{pos: at, kind: yaml.MappingNode}
			}
			return m.value
		}
	}
	m := member{at, name, &value{pos: at, kind: yaml.MappingNode}}
	v.members = append(v.members, m)
	return m.value
}

// shortFor is which field of the long form a short one stands for.
var shortFor = map[string]string{"framework": "name", "code": "path", "restart": "limit", "image": "name"}

// put sets what is at a path under v.
func put(r *report, v *value, steps []string, to *value, at pos) {
	var t *trail
	for i, step := range steps {
		t = t.then(step)
		last := i == len(steps)-1
		next := to
		switch {
		case strings.HasPrefix(step, "["):
			if next = v.putItem(r, step, next, last, t, at); next == nil {
				return
			}
		case v.kind != yaml.MappingNode:
			r.add(at, t.up, "is %s here, which has no fields; set it as a whole", v.what())
			return
		case last:
			v.putMember(step, to, at)
			v.dropOthers(step)
		default:
			next = v.enter(step, at)
			if name := shortFor[step]; name != "" && next.kind == yaml.ScalarNode {
				short := *next
				*next = value{pos: at, kind: yaml.MappingNode, members: []member{{at, name, &short}}}
			}
			if strings.HasPrefix(steps[i+1], "[") && next.kind == yaml.MappingNode && len(next.members) == 0 {
				*next = value{pos: at, kind: yaml.SequenceNode, tag: "!!seq"}
			}
		}
		v = next
	}
}

func (v *value) putMember(name string, to *value, at pos) {
	for i := range v.members {
		if v.members[i].name == name {
			v.members[i] = member{at, name, to}
			return
		}
	}
	v.members = append(v.members, member{at, name, to})
}

// dropOthers removes what a setting takes the place of: a role has one of run
// and command.
func (v *value) dropOthers(name string) {
	others := map[string][]string{"run": {"command", "args"}, "command": {"run"}, "args": {"run"}}[name]
	v.members = slices.DeleteFunc(v.members, func(m member) bool { return slices.Contains(others, m.name) })
}

// putItem goes to an item of a list, or sets it; one behind the last is added.
func (v *value) putItem(r *report, step string, to *value, last bool, t *trail, at pos) *value {
	n, err := strconv.Atoi(strings.Trim(step, "[]"))
	if v.kind != yaml.SequenceNode || err != nil || n > len(v.items) {
		r.add(at, t, "there is no such item: %s", v.what())
		return nil
	}
	if !last {
		to = &value{pos: at, kind: yaml.MappingNode}
	}
	switch {
	case n == len(v.items):
		v.items = append(v.items, to)
	case last:
		v.items[n] = to
	}
	return v.items[n]
}
