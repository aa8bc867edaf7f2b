// Package problem is how Muster says that something is wrong: an error with a
// kind that programs can act on and a text that names the thing, the rule and
// the next step.
package problem

import (
	"errors"
	"fmt"
	"strings"
)

// A Kind is what a program needs to know of an error.
type Kind string

// The kinds. An error of no kind is Internal.
const (
	Internal Kind = "internal"
	Invalid  Kind = "invalid"   // the request itself is wrong
	NotFound Kind = "not-found" // no such run, task or file
	Conflict Kind = "conflict"  // right request, wrong moment
	Refused  Kind = "refused"   // this place cannot do it
	Stale    Kind = "stale"     // another owner has taken over
)

// An Error is one problem. Where and Field are set for problems in files.
type Error struct {
	Kind  Kind   `json:"kind"`
	Where string `json:"where,omitempty"` // file:line:column
	Field string `json:"field,omitempty"` // roles.worker.replicas
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"` // the next step
	Cause error  `json:"-"`
}

func (e *Error) Error() string {
	var b strings.Builder
	for _, s := range []string{e.Where, e.Field} {
		if s != "" {
			b.WriteString(s + ": ")
		}
	}
	b.WriteString(e.Text)
	if e.Cause != nil {
		b.WriteString(": " + e.Cause.Error())
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Cause }

// New returns an error of the given kind.
func New(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Text: fmt.Sprintf(format, args...)}
}

// Wrap gives err a kind and says what was being done.
func Wrap(k Kind, err error, format string, args ...any) *Error {
	return &Error{Kind: k, Text: fmt.Sprintf(format, args...), Cause: err}
}

// WithHint returns e with the next step for its reader.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// KindOf returns the kind of err; the first one in a list decides.
func KindOf(err error) Kind {
	var l List
	if errors.As(err, &l) && len(l) > 0 {
		return l[0].Kind
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// HintOf returns the next step that err suggests, if any.
func HintOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

// A List is several problems at once, as a job file may have.
type List []*Error

func (l List) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns nil for an empty list.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}
