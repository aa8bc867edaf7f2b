package git

import (
	"errors"
	"fmt"
	"strings"

	"muster.dev/muster/internal/problem"
)

// A failure is a git that has failed, in its own words.
type failure struct {
	words string
	late  bool
}

func (f *failure) Error() string { return f.words }

// complaint is what git said, without what it puts before it and without what
// must not be shown.
func complaint(stderr string, err error) string {
	var lines []string
	for line := range strings.Lines(Redact(stderr)) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"fatal: ", "error: ", "remote: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		boring := line == "" || strings.HasPrefix(line, "warning: ") || strings.HasPrefix(line, "hint: ") ||
			strings.HasPrefix(line, "Please make sure you have the correct access rights") || line == "and the repository exists."
		if !boring {
			lines = append(lines, strings.TrimSuffix(line, "."))
		}
	}
	if len(lines) == 0 {
		return err.Error()
	}
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}

// causes are what git says when something is wrong that its user can mend. The
// first one that fits is taken.
var causes = []struct {
	said       []string
	text, hint string
}{
	{[]string{"could not read Username", "could not read Password", "Authentication failed", "Permission denied (", "terminal prompts disabled", "returned error: 401", "returned error: 403"},
		"%s asks who you are, or has no such repository",
		"git ls-remote %s has to work here without a question: a credential helper, or a key in the ssh agent"},
	{[]string{"Host key verification failed"}, "%s is a host whose key ssh does not know", "ssh to it once by hand"},
	{[]string{"Could not resolve host", "Failed to connect", "Couldn't connect", "Connection refused", "Connection timed out", "No route to host", "unable to connect", "Name or service not known", "Network is unreachable", "Operation too slow", "Temporary failure in name resolution"},
		"%s cannot be reached", "check the name and the network: git ls-remote %s"},
	{[]string{"dubious ownership"}, "%s belongs to somebody else", "git config --global --add safe.directory with its path"},
	{[]string{"does not exist", "does not appear to be a git repository", "not found", "returned error: 404", "not a git repository"},
		"%s is no repository, or not one that you may see", "check its name: git ls-remote %s"},
	{[]string{"not allowed"}, "%s leads to a transport that is not taken", "git config --get-regexp 'url.*' shows what your settings make of it"},
}

// explain says what went wrong with a repository, and the next step.
func (r Remote) explain(err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if f.late {
		return refused(fmt.Sprintf("%s cannot be had: %s", r.URL, f.words), "try git ls-remote "+r.URL+", or clone it and give code: PATH")
	}
	for _, c := range causes {
		for _, said := range c.said {
			if strings.Contains(f.words, said) {
				return refused(named(c.text, r.URL)+" (git: "+f.words+")", named(c.hint, r.URL))
			}
		}
	}
	return refused(fmt.Sprintf("%s cannot be had (git: %s)", r.URL, f.words), "git ls-remote "+r.URL)
}

func named(text, url string) string { return strings.ReplaceAll(text, "%s", url) }

func refused(text, hint string) error {
	return &problem.Error{Kind: problem.Refused, Field: "code.git", Text: text, Hint: hint}
}
