//go:build linux

package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What differs from one run to the next, and what stands for it. Documents keep
// the values of the day on which a screen was made.
var scrubs = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b([a-z][a-z0-9-]*)-[a-z0-9]{4}\b`), "$1-ID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "DATE"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d(\.\d+)?`), "TIME"},
	{regexp.MustCompile(`code @[0-9a-f]+ \S+`), "code @HASH"},
	{regexp.MustCompile(`\bpid \d+`), "pid N"},
	{regexp.MustCompile(`TIME on [\w.-]*\w`), "TIME on HOST"},
	{regexp.MustCompile(`\bmem \w+`), "mem SIZE"},
	{regexp.MustCompile(`linux/\w+`), "linux/ARCH"},
	{regexp.MustCompile(`local: \d+ cores?(, [^ ]+ GPUs?)?`), "local: MACHINE"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|[smhd]))+\b`), "TOOK"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?([KMGT]i?B?|B)\b`), "SIZE"},
	{regexp.MustCompile(`\b\d+\.\d{3,}\b`), "NUMBER"},
	{regexp.MustCompile(`\b\d+%`), "N%"},
	{regexp.MustCompile(`\n {12}`), " "}, // a longer name may break a report's line elsewhere
	{regexp.MustCompile(`  +`), " "},     // columns are as wide as what is in them
}

func scrub(lines []string) []string {
	text := strings.Join(lines, "\n")
	for _, s := range scrubs {
		text = s.pattern.ReplaceAllString(text, s.with)
	}
	all := strings.Split(text, "\n")
	for i, line := range all {
		all[i] = strings.TrimRight(line, " ")
	}
	return all
}

// ofTask matches a line that a task has written, up to its text.
var ofTask = regexp.MustCompile(`^(TIME )?[a-z0-9/-]+-\d+ +[|!] `)

// passing matches a line about a phase that a short run may pass unseen.
var passing = regexp.MustCompile(`^muster: .* (Pending|Running|Ending)\b`)

// inOrder puts the lines of tasks behind the others, task by task: which of two
// tasks writes first is chance, and so is which of two jobs gets on first.
func inOrder(lines []string) []string {
	all := slices.DeleteFunc(slices.Clone(lines), passing.MatchString)
	key := func(line string) string {
		if strings.HasPrefix(line, "muster: ") {
			return line
		}
		return ofTask.FindString(line)
	}
	slices.SortStableFunc(all, func(a, b string) int { return strings.Compare(key(a), key(b)) })
	return all
}

// elided says that a document leaves lines out.
const elided = "…"

// difference says how a screen differs from what was printed, "" if it does not.
func difference(shown, printed []string) string {
	left := slices.ContainsFunc(shown, func(l string) bool { return strings.TrimSpace(l) == elided })
	want := slices.DeleteFunc(slices.Clone(shown), func(l string) bool { return strings.TrimSpace(l) == elided })
	want, got := inOrder(scrub(want)), inOrder(scrub(printed))
	if left {
		if at := notWithin(want, got); at != "" {
			return fmt.Sprintf("it does not print %q; it prints\n%s", at, strings.Join(printed, "\n"))
		}
		return ""
	}
	if slices.Equal(want, got) {
		return ""
	}
	return fmt.Sprintf("it shows\n%s\nand is\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
}

// notWithin returns the first line of some that does not come in all, in order.
func notWithin(some, all []string) string {
	for _, line := range some {
		at := slices.Index(all, line)
		if at < 0 {
			return line
		}
		all = all[at+1:]
	}
	return ""
}

func TestDifference(t *testing.T) {
	for name, c := range map[string]struct {
		shown, printed string
		same           bool
	}{
		"ids, times and hosts": {"x-a1b2 failed after 3.2s at 10:00:01.5 on vm, pid 7.", "x-9zzz failed after 1m40s at 12:30:00.55 on node4, pid 19.", true},
		"another exit code":    {"exit 3", "exit 4", false},
		"another task":         {"worker-0 failed", "worker-1 failed", false},
		"tasks in any order":   {"go\nworker-0 | a\nworker-1 | b", "go\nworker-1 | b\nworker-0 | a", true},
		"a task in its order":  {"worker-0 | a\nworker-0 | b", "worker-0 | b\nworker-0 | a", false},
		"lines left out":       {"worker-0 | a\n…\nend", "worker-0 | a\nworker-0 | b\nend", true},
		"left out and wrong":   {"worker-0 | a\n…\nend", "worker-0 | a\nworker-0 | b\nstop", false},
		"a line broken later":  {"  first     a b\n            c", "  first     a\n            b c", true},
		"more than is shown":   {"a", "a\nb", false},
		"a phase unseen":       {"muster: a-1234 Running 1/1, attempt 1\nend", "end", true},
		"jobs in any order":    {"muster: a Succeeded in 1s\nmuster: b Succeeded in 1s", "muster: b Succeeded in 2s\nmuster: a Succeeded in 1s", true},
		"wider columns":        {"RUN  STATUS\na-1234  ok", "RUN     STATUS\na-5678  ok", true},
	} {
		t.Run(name, func(t *testing.T) {
			if d := difference(strings.Split(c.shown, "\n"), strings.Split(c.printed, "\n")); (d == "") != c.same {
				t.Errorf("same is %v: %s", !c.same, d)
			}
		})
	}
}
