package native

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"muster.dev/muster/internal/job"
)

// A cursor is a value of the file, how it was reached, and where to say that
// it is wrong.
type cursor struct {
	r     *report
	trail *trail
	v     *value
}

func (c cursor) at(m member) cursor { return cursor{c.r, c.trail.then(m.name), m.value} }

func (c cursor) item(i int) cursor { return cursor{c.r, c.trail.item(i), c.v.items[i]} }

func (c cursor) bad(format string, args ...any) { c.r.add(c.v.pos, c.trail, format, args...) }

// badKey reports the key of a member rather than its value.
func (c cursor) badKey(m member, text string) { c.r.add(m.pos, c.trail.then(m.name), "%s", text) }

// is checks the kind of the value; want says it in words.
func (c cursor) is(kind yaml.Kind, want string) bool {
	switch {
	case c.describes(func() schema { return plainSchema(kind, want) }):
	case c.v.null():
		c.bad("has no value; want %s", want)
	case c.v.kind != kind:
		c.bad("want %s, found %s", want, c.v.what())
	default:
		return true
	}
	return false
}

// scalar returns the text of a scalar as it was written.
func (c cursor) scalar(want string) (string, bool) {
	if !c.is(yaml.ScalarNode, want) {
		return "", false
	}
	if strings.ContainsRune(c.v.text, 0) {
		c.bad("has a NUL character, which no program can be given")
		return "", false
	}
	return c.v.text, true
}

// A form is one way to write a value. It sets the whole target, not only what
// was written, or it reports a problem.
type form[V any] func(c cursor, to *V)

// text takes any scalar as it was written: run: true is a fine command.
func text(c cursor, to *string) {
	if s, ok := c.scalar("text"); ok {
		*to = s
	}
}

// word is a text that must say something.
func word(c cursor, to *string) {
	s, ok := c.scalar("text")
	if ok && s == "" {
		c.bad("is empty; give a value or leave it out")
		return
	}
	if ok {
		*to = s
	}
}

func boolean(c cursor, to *bool) {
	s, ok := c.scalar("true or false")
	switch {
	case !ok:
	case c.v.tag == "!!bool":
		*to = strings.EqualFold(s, "true")
	case !c.isQuoted(s == "true" || s == "false"):
		c.bad("%s is not true or false", quote(s))
	}
}

// isQuoted reports a value that would be right without its quotes.
func (c cursor) isQuoted(right bool) bool {
	if right && c.v.quoted {
		c.bad("%s is text; write it without quotes", quote(c.v.text))
		return true
	}
	return false
}

func whole(c cursor, to *int) {
	s, ok := c.scalar("a whole number")
	if !ok {
		return
	}
	n, err := strconv.Atoi(s)
	switch {
	case errors.Is(err, strconv.ErrRange):
		c.bad("%s is too large", quote(s))
	case err != nil || strconv.Itoa(n) != s: // 010 is eight to some, ten to others
		c.bad("%s is not a whole number", quote(s))
	case !c.isQuoted(true):
		*to = n
	}
}

// positive is a whole number above 0.
func positive(c cursor, to *int) {
	n := 1
	whole(c, &n)
	if n < 1 {
		c.bad("must be at least 1, is %d", n)
		return
	}
	*to = n
}

func whole64(c cursor, to *int64) {
	n := int(*to)
	whole(c, &n)
	*to = int64(n)
}

// number is a decimal number above 0.
func number(c cursor, to *float64) {
	s, ok := c.scalar("a number")
	if !ok {
		return
	}
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || strings.Trim(s, "0123456789.eE+-") != "":
		c.bad("%s is not a number", quote(s))
	case c.isQuoted(true):
	case n <= 0:
		c.bad("must be more than 0, is %s", s)
	default:
		*to = n
	}
}

// quantity is a value that its own type knows how to read.
func quantity[V any](what string, parse func(string) (V, error)) form[V] {
	const most = 40
	return func(c cursor, to *V) {
		s, ok := c.scalar(what)
		if !ok {
			return
		}
		n, err := parse(s)
		switch {
		case len(s) > most:
			c.bad("%s is not %s", quote(s), what)
		case err != nil:
			c.bad("%s", err)
		default:
			*to = n
		}
	}
}

var (
	duration = quantity("a duration like 90s or 2h", job.ParseDuration)
	size     = quantity("a size like 512Mi or 2G", job.ParseBytes)
)

// above0 refuses 0 where the Spec keeps 0 for a field that was left out.
func above0[V job.Duration | job.Bytes](f form[V]) form[V] {
	return func(c cursor, to *V) {
		n := V(1)
		f(c, &n)
		if n == 0 {
			c.bad("must be more than 0; leave it out for the default")
			return
		}
		*to = n
	}
}

// either is a short form for scalars and a long one for the rest.
func either[V any](short, long form[V]) form[V] {
	return func(c cursor, to *V) {
		switch {
		case c.describes(func() schema { return schema{"anyOf": []any{describe(short), describe(long)}} }):
		case c.v.kind == yaml.ScalarNode:
			short(c, to)
		default:
			long(c, to)
		}
	}
}

// short is the form that sets one field of a V and no other.
func short[V, W any](f form[W], in func(*V) *W) form[V] {
	return func(c cursor, to *V) {
		var v V
		f(c, in(&v))
		*to = v
	}
}

// optional is a form whose absence the Spec shows as nil.
func optional[V any](f form[V]) form[*V] {
	return func(c cursor, to **V) {
		v := new(V)
		f(c, v)
		*to = v
	}
}

// list keeps an empty list as nil, as the Spec's JSON does.
func list[V any](f form[V]) form[[]V] {
	return func(c cursor, to *[]V) {
		if c.describes(func() schema { return schema{"type": "array", "items": describe(f)} }) || !c.is(yaml.SequenceNode, "a list") {
			return
		}
		var all []V
		for i := range c.v.items {
			var v V
			f(c.item(i), &v)
			all = append(all, v)
		}
		*to = all
	}
}

// dict keeps an empty map as nil, as the Spec's JSON does.
func dict[V any](f form[V]) form[map[string]V] {
	return func(c cursor, to *map[string]V) {
		if c.describes(func() schema { return schema{"type": "object", "additionalProperties": describe(f)} }) || !c.is(yaml.MappingNode, "a map") {
			return
		}
		var all map[string]V
		for _, m := range c.v.members {
			if all == nil {
				all = map[string]V{}
			}
			var v V
			f(c.at(m), &v)
			all[m.name] = v
		}
		*to = all
	}
}

// anything keeps what only an engine understands, in the types of JSON.
func anything(c cursor, to *any) {
	switch {
	case c.describes(func() schema { return nil }):
	case c.v.kind == yaml.SequenceNode:
		all := []any{}
		for i := range c.v.items {
			var v any
			anything(c.item(i), &v)
			all = append(all, v)
		}
		*to = all
	case c.v.kind == yaml.MappingNode:
		all := map[string]any{}
		for _, m := range c.v.members {
			var v any
			anything(c.at(m), &v)
			all[m.name] = v
		}
		*to = all
	case !c.v.null():
		anyScalar(c, to)
	}
}

func anyScalar(c cursor, to *any) {
	s, ok := c.scalar("a value")
	if !ok {
		return
	}
	*to = s
	switch c.v.tag {
	case "!!bool":
		*to = strings.EqualFold(s, "true")
	case "!!int", "!!float":
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || strings.Trim(s, "0123456789.eE+-") != "" {
			c.bad("%s is not a decimal number; quote it if it is text", quote(s))
			return
		}
		if c.v.tag == "!!int" && math.Abs(n) >= 1<<53 {
			c.bad("%s is too large to be kept exactly; quote it if it is text", quote(s))
			return
		}
		*to = n
	}
}
