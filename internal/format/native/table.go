package native

import "go.yaml.in/yaml/v3"

// A table is what may stand in a map of the file: the one list that reading,
// checking and suggesting names use.
type table[T any] []field[T]

// A field is one name of a table and how its value is read into a T.
type field[T any] struct {
	name string
	read func(c cursor, to *T)
}

// as makes a field: its name, its form, and its place in T.
func as[T, V any](name string, f form[V], in func(*T) *V) field[T] {
	return field[T]{name, func(c cursor, to *T) { f(c, in(to)) }}
}

func (t table[T]) names() []string {
	names := make([]string, len(t))
	for i, f := range t {
		names[i] = f.name
	}
	return names
}

func (t table[T]) has(name string) bool {
	for _, f := range t {
		if f.name == name {
			return true
		}
	}
	return false
}

// read reads one member and says whether the table has its name.
func (t table[T]) read(c cursor, m member, to *T) bool {
	for _, f := range t {
		if f.name == m.name {
			f.read(c.at(m), to)
			return true
		}
	}
	return false
}

// object is the form of a map that a table describes.
func object[T any](t table[T]) form[T] {
	return func(c cursor, to *T) {
		if c.describes(func() schema { return tableSchema(t) }) || !c.is(yaml.MappingNode, "a map") {
			return
		}
		var v T
		for _, m := range c.v.members {
			if !t.read(c, m, &v) {
				c.badKey(m, suggest("unknown field", m.name, t.names()))
			}
		}
		*to = v
	}
}
