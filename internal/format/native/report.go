package native

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"muster.dev/muster/internal/problem"
)

// A pos is a place in the file; line 0 is the file as a whole.
type pos struct{ line, column int }

// A trail is how a value was reached, from the innermost step outwards. It is
// put into words only for a problem.
type trail struct {
	up   *trail
	step string // a key, or [3]
}

func (t *trail) then(step string) *trail { return &trail{t, step} }

func (t *trail) item(i int) *trail { return t.then("[" + strconv.Itoa(i) + "]") }

func (t *trail) steps() []string {
	var all []string
	for ; t != nil; t = t.up {
		all = append(all, t.step)
	}
	slices.Reverse(all)
	return all
}

func (t *trail) String() string {
	var b strings.Builder
	for i, s := range t.steps() {
		if i > 0 && !strings.HasPrefix(s, "[") {
			b.WriteByte('.')
		}
		b.WriteString(plainly(s))
	}
	return b.String()
}

// plainly keeps odd keys to one short line.
func plainly(key string) string {
	if q := quote(key); q != `"`+key+`"` || key == "" {
		return q
	}
	return key
}

// quote shows a value of the file in one short line.
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

// A finding is a problem before it is put into words.
type finding struct {
	at    pos
	trail *trail
	text  string
}

// A report collects what is wrong with a file.
type report struct {
	file     string
	sets     []string // settings over the file; line -1-i is the i-th
	findings []finding
	muted    bool   // what is read again has been reported already
	schema   schema // when not nil, forms describe themselves instead of reading
}

func (r *report) add(at pos, t *trail, format string, args ...any) {
	if r.muted || len(r.findings) > maxProblems {
		return
	}
	r.findings = append(r.findings, finding{at, t, fmt.Sprintf(format, args...)})
}

// touches says that something at, above or below t is wrong already.
func (r *report) touches(t *trail) bool {
	steps := t.steps()
	return slices.ContainsFunc(r.findings, func(f finding) bool {
		other := f.trail.steps()
		n := min(len(steps), len(other))
		return n > 0 && slices.Equal(steps[:n], other[:n])
	})
}

// covers says that something at or above t is wrong already.
func (r *report) covers(t *trail) bool {
	steps := t.steps()
	return slices.ContainsFunc(r.findings, func(f finding) bool {
		other := f.trail.steps()
		return len(other) > 0 && len(other) <= len(steps) && slices.Equal(steps[:len(other)], other)
	})
}

// mayHave says that something is wrong in a map that may be one of these names.
func (r *report) mayHave(holder *trail, names []string) bool {
	steps := holder.steps()
	return slices.ContainsFunc(r.findings, func(f finding) bool {
		at := f.trail.steps()
		return len(at) > len(steps) && slices.Equal(at[:len(steps)], steps) && near(at[len(steps)], names) != ""
	})
}

// err returns the problems in the order of the file, or nil.
func (r *report) err() error {
	slices.SortStableFunc(r.findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.at.column, b.at.column))
	})
	var list problem.List
	seen := map[problem.Error]bool{} // a default is read by every job and role, and wrong once
	for i, f := range r.findings {
		if i == maxProblems {
			list = append(list, problem.New(problem.Invalid, "there are more problems than these %d", maxProblems))
			break
		}
		e := problem.Error{Kind: problem.Invalid, Where: r.where(f.at), Field: f.trail.String(), Text: f.text}
		if once := (problem.Error{Where: e.Where, Text: e.Text}); f.at.line == 0 || !seen[once] {
			seen[once] = true
			list = append(list, &e)
		}
	}
	return list.Err()
}

func (r *report) where(at pos) string {
	switch {
	case at.line < 0:
		return "--set " + plainly(r.sets[-1-at.line])
	case at.line == 0:
		return r.file
	case at.column == 0:
		return fmt.Sprintf("%s:%d", r.file, at.line)
	}
	return fmt.Sprintf("%s:%d:%d", r.file, at.line, at.column)
}

// suggest adds the name that was probably meant to a text.
func suggest(text, word string, known []string) string {
	if meant := near(word, known); meant != "" && meant != word {
		return fmt.Sprintf("%s; did you mean %q?", text, meant)
	}
	return text
}

// near is the name that was probably meant, "" when none is like it.
func near(word string, known []string) string {
	const most = 64 // longer words are no slips, and costly to compare
	if word == "" || len(word) > most {
		return ""
	}
	return problem.Nearest(word, known)
}
