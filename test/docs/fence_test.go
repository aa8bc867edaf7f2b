//go:build linux

package docs

import (
	"slices"
	"strings"
	"testing"
)

// A fence is a fenced block of a document. What its first line says:
//
//	```console            commands behind "$ ", each with what it prints; they are run
//	```console mxnet      the same, where the suite mxnet can run
//	```sh not run: why    commands that cannot be run here, and the reason
//	```yaml               a job file; it must be valid
//	```yaml muster.yaml   the same, and there for the commands that follow; so with other languages
//	```text, ```json      neither
type fence struct {
	language string
	word     string // a suite, or a file's name
	reason   string // why it is not run
	first    int    // its first line inside, from 0
	lines    []string
}

const notRun = "not run:"

// fences of a text, in order.
func fences(text string) []fence {
	var all []fence
	var open *fence
	for n, line := range strings.Split(text, "\n") {
		info, is := strings.CutPrefix(line, "```")
		switch {
		case open == nil && is:
			open = &fence{first: n + 1}
			open.describe(info)
		case is:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		}
	}
	return all
}

func (f *fence) describe(info string) {
	info, reason, marked := strings.Cut(info, notRun)
	if marked {
		f.reason = strings.TrimSpace(reason)
	}
	words := append(strings.Fields(info), "", "")
	f.language, f.word = words[0], words[1]
}

// A step is a command of a console and what it prints.
type step struct {
	command string
	output  []string
}

func (f fence) steps() []step {
	var all []step
	for _, line := range f.lines {
		// scripts/demo shows what it runs: bin/muster, where documents say muster.
		if command, is := strings.CutPrefix(line, "$ "); is && !strings.HasPrefix(command, "bin/") {
			all = append(all, step{command: command})
			continue
		}
		if len(all) > 0 {
			all[len(all)-1].output = append(all[len(all)-1].output, line)
		}
	}
	return all
}

// asLines is how steps stand in a document.
func asLines(steps []step) []string {
	var all []string
	for _, s := range steps {
		all = append(append(all, "$ "+s.command), s.output...)
	}
	return all
}

// replace puts other lines into a fence of a text.
func replace(text string, f fence, lines []string) string {
	all := strings.Split(text, "\n")
	return strings.Join(slices.Replace(all, f.first, f.first+len(f.lines), lines...), "\n")
}

func TestFences(t *testing.T) {
	text := "# A\n```console mxnet\n$ a\none\n$ b\n```\n```sh not run: needs a GPU\nc\n```\n"
	all := fences(text)
	if len(all) != 2 || all[0].word != "mxnet" || all[1].reason != "needs a GPU" || all[1].language != "sh" {
		t.Fatalf("%+v", all)
	}
	steps := all[0].steps()
	if len(steps) != 2 || steps[0].command != "a" || !slices.Equal(steps[0].output, []string{"one"}) || steps[1].command != "b" {
		t.Errorf("%+v", steps)
	}
	steps[1].output = []string{"two"}
	if got, want := replace(text, all[0], asLines(steps)), strings.Replace(text, "$ b\n", "$ b\ntwo\n", 1); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
