//go:build linux

package docs

import (
	"slices"
	"strings"
	"testing"

	"muster.dev/muster/internal/format/native"
)

// Every screen is what its commands print, but for what differs each time.
func TestScreens(t *testing.T) {
	for _, document := range documents(t) {
		all := fences(read(t, document))
		for _, name := range sessionsOf(all) {
			t.Run(document+":"+name, func(t *testing.T) {
				s := newSession(t, name)
				for _, f := range all {
					s.play(document, f, name)
				}
			})
		}
	}
}

// sessionsOf are the sessions that a document needs: "" and those of suites.
func sessionsOf(all []fence) []string {
	var names []string
	for _, f := range all {
		if f.language == "console" && f.reason == "" && !slices.Contains(names, f.word) {
			names = append(names, f.word)
		}
	}
	return names
}

// play does what a fence asks of a session: to have a file, or to run commands.
func (s *session) play(document string, f fence, name string) {
	s.t.Helper()
	if f.language != "console" {
		if f.word != "" {
			s.file(f.word, []byte(strings.Join(f.lines, "\n")+"\n"))
		}
		return
	}
	if f.word != name || f.reason != "" {
		return
	}
	steps := f.steps()
	if len(steps) == 0 {
		s.t.Errorf("%s:%d: a console without a command", document, f.first)
	}
	changed := false
	for i, step := range steps {
		printed := s.run(step.command)
		d := difference(step.output, printed)
		if d == "" {
			continue
		}
		changed = true
		steps[i].output = printed
		if !*update {
			s.t.Errorf("%s:%d: $ %s\n%s", document, f.first, step.command, d)
		}
	}
	if changed && *update {
		s.rewrite(document, f, steps)
	}
}

// rewrite puts other steps into the fence that begins with the same lines: what
// stands above it may have been rewritten before.
func (s *session) rewrite(document string, f fence, steps []step) {
	s.t.Helper()
	text := read(s.t, document)
	for _, now := range fences(text) {
		if slices.Equal(now.lines, f.lines) && now.word == f.word {
			write(s.t, document, replace(text, now, asLines(steps)))
			return
		}
	}
	s.t.Errorf("%s:%d has gone", document, f.first)
}

// elsewhere says what keeps the commands of a document true that are not run here.
var elsewhere = map[string]string{
	"docs/benchmarks.md": "make bench, which takes minutes",
	"docs/commands.md":   "the commands, from whose help it is made",
	"docs/containers.md": "the engine's suite for containers",
	"docs/install.md":    "test/dist",
}

// Every command that users read is run, or says why it is not; and every job
// file can be read.
func TestFencesAreKnown(t *testing.T) {
	for _, document := range documents(t) {
		if elsewhere[document] != "" {
			continue
		}
		for _, f := range fences(read(t, document)) {
			switch f.language {
			case "console", "text", "json", "python":
			case "sh":
				if f.reason == "" {
					t.Errorf("%s:%d: nothing runs it: make it a console, or ```sh %s the reason", document, f.first, notRun)
				}
			case "yaml":
				if _, _, err := native.ParseFile(document, []byte(strings.Join(f.lines, "\n"))); err != nil && f.reason == "" {
					t.Errorf("%s:%d: %v", document, f.first, err)
				}
			default:
				t.Errorf("%s:%d: a fence of %q", document, f.first, f.language)
			}
		}
	}
}

// Commands outside of fences would escape the tests.
func TestCommandsAreInFences(t *testing.T) {
	for _, document := range documents(t) {
		inside := false
		for n, line := range strings.Split(read(t, document), "\n") {
			if strings.HasPrefix(line, "```") {
				inside = !inside
			}
			command := strings.TrimPrefix(line, "    ")
			if !inside && command != line && elsewhere[document] == "" &&
				(strings.HasPrefix(command, "muster ") || strings.HasPrefix(command, "make ") || strings.HasPrefix(command, "$ ")) {
				t.Errorf("%s:%d: nothing runs it: %s", document, n+1, command)
			}
		}
	}
}
