package snapshot

import "strings"

// parseClass reads the class that p begins with, [a-z] or [!a-z] or
// [[:alpha:]], and its length; 0 when it is malformed or never closed.
func parseClass(p string) (*[256]bool, int) {
	c := classReader{p: p, i: 1}
	negated := c.i < len(p) && (p[c.i] == '!' || p[c.i] == '^')
	if negated {
		c.i++
	}
	// A bracket in the first position is a member, not the end.
	for first := true; first || c.i < len(p) && p[c.i] != ']'; first = false {
		if !c.member() {
			return nil, 0
		}
	}
	if c.i >= len(p) {
		return nil, 0
	}
	for b := range c.set {
		c.set[b] = c.set[b] != negated
	}
	c.set['/'] = false
	return &c.set, c.i + 1
}

type classReader struct {
	p    string
	i    int
	prev byte // the last single byte: the lower end of a range; 0 for none
	set  [256]bool
}

// member reads one byte, range or named class; false means malformed.
func (c *classReader) member() bool {
	rest := c.p[c.i:]
	switch {
	case rest == "":
		return false
	case strings.HasPrefix(rest, "[:"):
		return c.named(rest)
	case rest[0] == '-' && c.prev != 0 && len(rest) > 1 && rest[1] != ']':
		c.i++
		low := c.prev
		high, ok := c.char()
		for b := int(low); ok && b <= int(high); b++ {
			c.set[b] = true
		}
		c.prev = 0
		return ok
	}
	b, ok := c.char()
	c.set[b] = c.set[b] || ok
	c.prev = b
	return ok
}

// char reads one byte, escaped or not.
func (c *classReader) char() (byte, bool) {
	if c.p[c.i] == '\\' {
		c.i++
	}
	if c.i >= len(c.p) {
		return 0, false
	}
	c.i++
	return c.p[c.i-1], true
}

// named reads [:digit:]. What only begins like one is a plain bracket.
func (c *classReader) named(rest string) bool {
	end := strings.IndexByte(rest[2:], ']')
	if end < 0 {
		return false
	}
	name, ok := strings.CutSuffix(rest[2:2+end], ":")
	if !ok {
		c.set['['] = true
		c.prev = '['
		c.i++
		return true
	}
	in := classes[name]
	if in == nil {
		return false
	}
	for b := range 128 {
		c.set[b] = c.set[b] || in(byte(b))
	}
	c.prev = 0
	c.i += 2 + end + 1
	return true
}

// classes are the names that git knows, for ASCII, as git decides them.
var classes = map[string]func(byte) bool{
	"alnum":  func(b byte) bool { return isAlpha(b) || isDigit(b) },
	"alpha":  isAlpha,
	"blank":  func(b byte) bool { return b == ' ' || b == '\t' },
	"cntrl":  func(b byte) bool { return b < ' ' || b == 0x7f },
	"digit":  isDigit,
	"graph":  isGraph,
	"lower":  func(b byte) bool { return 'a' <= b && b <= 'z' },
	"print":  func(b byte) bool { return b == ' ' || isGraph(b) },
	"punct":  func(b byte) bool { return isGraph(b) && !isAlpha(b) && !isDigit(b) },
	"space":  func(b byte) bool { return strings.IndexByte(" \t\n\r", b) >= 0 },
	"upper":  func(b byte) bool { return 'A' <= b && b <= 'Z' },
	"xdigit": func(b byte) bool { return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' },
}

func isAlpha(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }
func isGraph(b byte) bool { return ' ' < b && b < 0x7f }
