package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Fault is one rule that a Spec breaks. It has what a caller needs to say so
// well: where, why, and the names that would have been right.
type Fault struct {
	Path    []string // roles worker volumes [0] path
	Text    string
	Word    string   // the wrong name, where Text is about one
	Known   []string // the names that Word is not one of
	Missing []string // the fields of which one should be there: Path, or in it
}

// Field returns the path as people write it: roles.worker.volumes[0].path.
func (f Fault) Field() string {
	return strings.ReplaceAll(strings.Join(f.Path, "."), ".[", "[")
}

func (f Fault) String() string { return f.Field() + ": " + f.Text }

// The largest numbers that a Spec may have.
const (
	MaxReplicas = 10000
	maxPriority = 1000000000
	maxPort     = 65535
	maxFaults   = 1000 // nobody reads more
)

// Frameworks are the names that a job may give as its framework.
var Frameworks = []string{"mxnet", "byteps", "torch", "jax", "tensorflow", "mpi", "horovod", "tvm", "plain"}

// Signals are the names that a job may give as its stop signal.
var Signals = []string{"TERM", "INT", "HUP", "USR1", "USR2", "QUIT", "KILL"}

// Check returns every rule that s breaks, in a fixed order. It holds for a
// Spec of any format; what takes knowledge of a framework is for rendezvous,
// whose Faults has these too.
func Check(s *Spec) []Fault {
	var faults []Fault
	c := checker{faults: &faults}
	if s.Name != "" {
		c.in("name").label(s.Name)
	}
	c.framework(s.Framework)
	c.roles(s)
	c.files(s)
	c.secrets(s)
	c.success(s)
	c.policies(s)
	return faults
}

// A checker collects the faults of one part of a Spec.
type checker struct {
	faults *[]Fault
	path   []string
}

func (c checker) in(steps ...string) checker {
	return checker{c.faults, append(slices.Clip(c.path), steps...)}
}

func (c checker) item(i int) checker { return c.in("[" + strconv.Itoa(i) + "]") }

func (c checker) add(f Fault) {
	if len(*c.faults) < maxFaults {
		f.Path = c.path
		*c.faults = append(*c.faults, f)
	}
}

func (c checker) bad(format string, args ...any) {
	c.add(Fault{Text: fmt.Sprintf(format, args...)})
}

// missing is for a field that should be there.
func (c checker) missing(format string, args ...any) {
	c.add(Fault{Text: fmt.Sprintf(format, args...), Missing: c.path[len(c.path)-1:]})
}

// lacks is for one of several fields, which should be there.
func (c checker) lacks(fields []string, format string, args ...any) {
	c.add(Fault{Text: fmt.Sprintf(format, args...), Missing: fields})
}

// oneOf checks a word that may be left out.
func (c checker) oneOf(word string, known ...string) {
	if word == "" || slices.Contains(known, word) {
		return
	}
	text := fmt.Sprintf("%s is not one of %s", quote(word), strings.Join(known, ", "))
	if len(known) == 1 {
		text = fmt.Sprintf("%s is not known; the only one is %s", quote(word), known[0])
	}
	c.add(Fault{Text: text, Word: word, Known: known})
}

func (c checker) between(n, low, high int) {
	switch {
	case n < low:
		c.bad("must be at least %d, is %d", low, n)
	case n > high:
		c.bad("must be at most %d, is %d", high, n)
	}
}

func (c checker) label(s string) {
	if !IsLabel(s) {
		c.bad("%s is not a DNS label (up to 63 of a-z, 0-9 and -, with no - at either end)", quote(s))
	}
}

// variable checks the name of an environment variable that may be left out.
func (c checker) variable(s string) {
	if s != "" && !isVariable(s) {
		c.bad("%s is not a variable name (letters, digits and _, no digit first)", quote(s))
	}
}

// exactlyOne checks that one of several fields is given.
func (c checker) exactlyOne(given []bool, names ...string) {
	var found []string
	for i, g := range given {
		if g {
			found = append(found, names[i])
		}
	}
	switch {
	case len(found) == 0:
		c.lacks(names, "give one of %s", strings.Join(names, ", "))
	case len(found) > 1:
		c.bad("%s cannot be given together; keep one", strings.Join(found, " and "))
	}
}

// IsLabel says whether s is a DNS label: up to 63 of a-z, 0-9 and -, with no - at
// either end.
func IsLabel(s string) bool {
	for i := range len(s) {
		switch b := s[i]; {
		case b >= 'a' && b <= 'z', b >= '0' && b <= '9':
		case b == '-' && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return s != "" && len(s) <= 63
}

func isVariable(s string) bool {
	for i := range len(s) {
		switch b := s[i]; {
		case b == '_', b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z':
		case b >= '0' && b <= '9' && i > 0:
		default:
			return false
		}
	}
	return s != ""
}

// quote keeps what a user wrote readable in one line.
func quote(s string) string {
	most := 60
	if len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) { // a character stays whole
			most--
		}
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
