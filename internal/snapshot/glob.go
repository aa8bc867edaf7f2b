package snapshot

import "strings"

// A glob is a compiled pattern of git's kind. Matching costs at most the
// length of the pattern times that of the path, whatever the pattern.
type glob struct {
	never  bool   // malformed: matches nothing
	kind   string // "exact", "suffix" or "" for tokens
	text   string
	tokens []token
}

type token struct {
	kind  tokenKind
	char  byte
	class *[256]bool
}

type tokenKind byte

const (
	literal tokenKind = iota // char
	one                      // ?: any byte but a slash
	oneOf                    // [a-z]
	star                     // *: any bytes but a slash
	deep                     // ** as a whole element: any bytes
	hop                      // before ** and a slash: both may be left out
)

// compile reads a pattern without its leading !, and leading or trailing slash.
func compile(p string) glob {
	if !strings.ContainsAny(p, `*?[\`) {
		return glob{kind: "exact", text: p}
	}
	if p[0] == '*' && !strings.ContainsAny(p[1:], `*?[\/`) {
		return glob{kind: "suffix", text: p[1:]}
	}
	var g glob
	for i := 0; i < len(p); {
		t, n := nextToken(p, i)
		if n == 0 {
			return glob{never: true}
		}
		i += n
		if t.kind == deep && i < len(p) && p[i] == '/' {
			g.tokens = append(g.tokens, token{kind: hop})
		}
		g.tokens = append(g.tokens, t)
	}
	return g
}

// nextToken reads the token at p[i:] and its length, 0 when it is malformed.
func nextToken(p string, i int) (token, int) {
	switch p[i] {
	case '?':
		return token{kind: one}, 1
	case '*':
		return starToken(p, i)
	case '[':
		class, n := parseClass(p[i:])
		return token{kind: oneOf, class: class}, n
	case '\\':
		if i+1 == len(p) {
			return token{}, 0
		}
		return token{kind: literal, char: p[i+1]}, 2
	}
	return token{kind: literal, char: p[i]}, 1
}

// starToken reads a run of stars. Two or more mean folders only when they are
// a whole element of the path; elsewhere they are as one.
func starToken(p string, i int) (token, int) {
	rest := strings.TrimLeft(p[i:], "*")
	n := len(p) - i - len(rest)
	switch {
	case n == 1 || i > 0 && p[i-1] != '/':
		return token{kind: star}, n
	case rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`):
		return token{kind: deep}, n
	}
	return token{kind: star}, n
}

func (g *glob) match(s string) bool {
	switch {
	case g.never:
		return false
	case g.kind == "exact":
		return s == g.text
	case g.kind == "suffix":
		head, ok := strings.CutSuffix(s, g.text)
		return ok && !strings.Contains(head, "/")
	}
	return g.walk(s)
}

// walk follows all ways to match at once: cur holds the tokens that may come
// next. There is no going back, so no pattern is slow.
func (g *glob) walk(s string) bool {
	var small [2][64]bool
	n := len(g.tokens) + 1
	cur, next := small[0][:], small[1][:]
	if n > len(cur) {
		cur, next = make([]bool, n), make([]bool, n)
	}
	cur, next = cur[:n], next[:n]
	cur[0] = true
	for i := range len(s) {
		g.skip(cur)
		if !g.step(cur, next, s[i]) {
			return false
		}
		cur, next = next, cur
		clear(next)
	}
	g.skip(cur)
	return cur[n-1]
}

// skip marks what may come next when tokens match nothing.
func (g *glob) skip(cur []bool) {
	for i, t := range g.tokens {
		if !cur[i] || t.kind < star {
			continue
		}
		cur[i+1] = true
		if t.kind == hop {
			cur[i+3] = true // past the stars and their slash
		}
	}
}

// step moves every way over one byte and reports whether any is left.
func (g *glob) step(cur, next []bool, c byte) bool {
	alive := false
	for i, t := range g.tokens {
		if !cur[i] || !t.takes(c) {
			continue
		}
		alive = true
		if t.kind >= star {
			next[i] = true
		} else {
			next[i+1] = true
		}
	}
	return alive
}

func (t *token) takes(c byte) bool {
	switch t.kind {
	case literal:
		return c == t.char
	case one, star:
		return c != '/'
	case oneOf:
		return t.class[c]
	case deep:
		return true
	}
	return false
}
