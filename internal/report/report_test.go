package report

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) {
	time.Local = time.UTC // reports have the reader's time of day
	flag.Parse()
	os.Exit(m.Run())
}

// draw is a report as the command line draws it on a pipe.
func draw(rep Report) string {
	var b strings.Builder
	marks := map[Tone]string{Good: "ok", Bad: "FAIL", Watch: "warn", Waiting: "wait"}
	fmt.Fprintf(&b, "%s\n", strings.Join(wrap(marks[rep.Tone]+" "+rep.Headline, 100), "\n     "))
	for _, f := range rep.Facts {
		label := f.Label
		for n, line := range f.Lines {
			parts := wrap(line, factWidth)
			if f.Task != "" {
				to := map[engine.Stream]ui.Stream{engine.Stdout: ui.Out, engine.Stderr: ui.Err}[f.Streams[n]]
				parts = []string{ui.Cut(ui.NewPrefixes(ui.Style{}, []string{f.Task}).Of(f.Task, to)+line, factWidth, "...")}
			}
			for _, part := range parts {
				fmt.Fprintf(&b, "  %-9s %s\n", label, part)
				label = ""
			}
		}
	}
	for _, s := range rep.Next {
		fmt.Fprintf(&b, "  > %s   %s\n", s.Command, s.Why)
	}
	return b.String()
}

func wrap(text string, width int) []string {
	lines := []string{""}
	for n, word := range strings.Split(text, " ") {
		last := &lines[len(lines)-1]
		if n > 0 && ui.Width(*last)+1+ui.Width(word) > width {
			lines = append(lines, word)
			continue
		}
		if n > 0 {
			*last += " "
		}
		*last += word
	}
	return lines
}

func TestReports(t *testing.T) {
	for name, c := range cases() {
		t.Run(name, func(t *testing.T) {
			rep := Of(c.run, c.last, now)
			got := draw(rep)
			compare(t, name, got)
			for _, line := range strings.Split(got, "\n") {
				if n := ui.Width(line); n > 100 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			if n := strings.Count(got, "\n") + 2; n > 24 { // with the empty lines around the facts
				t.Errorf("%d rows", n)
			}
			if c.run.Done() && (rep.Exit == nil || rep.Exit.Code != c.run.Verdict.Exit.Code) {
				t.Errorf("exit is %v", rep.Exit)
			}
			if _, err := json.Marshal(rep); err != nil {
				t.Error(err)
			}
		})
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "_")+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s(go test -update writes it)", got, want)
	}
}

// Every golden file has its case.
func TestNoGoldenIsLeftOver(t *testing.T) {
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for name := range cases() {
		known[strings.ReplaceAll(name, " ", "_")+".golden"] = true
	}
	for _, f := range files {
		if !known[filepath.Base(f)] {
			t.Errorf("%s has no case", f)
		}
	}
}

func TestSuspect(t *testing.T) {
	all := cases()
	for name, want := range map[string]string{
		"failed by exit":   "worker-1/1.1",
		"failed by stall":  "worker-1/1.1",
		"failed by limit":  "",
		"succeeded":        "",
		"stopped":          "",
		"stuck":            "worker-1/1.1",
		"running fine":     "scheduler-0/1.1",
		"pending":          "",
		"ending a failure": "worker-1/1.1",
	} {
		got := ""
		if i, ok := Suspect(all[name].run); ok {
			got = i.String()
		}
		if got != want {
			t.Errorf("%s: the suspect is %q, want %q", name, got, want)
		}
	}
}

// A record without a verdict, which no supervisor writes, is no reason to panic.
func TestNoVerdict(t *testing.T) {
	for _, p := range []run.Phase{run.Succeeded, run.Failed, run.Stopped} {
		if rep := Of(run.Run{ID: "a-1", Phase: p}, nil, now); rep.Headline == "" || rep.Exit == nil {
			t.Errorf("%s: %+v", p, rep)
		}
	}
}

func TestLongOutputGivesWay(t *testing.T) {
	c := cases()["failed after restarts"]
	for range 30 {
		c.last = append(c.last, Line{engine.Stderr, "and so on"})
	}
	rep := Of(c.run, c.last, now)
	if n := rows(rep); n > maxRows {
		t.Errorf("%d rows, at most %d", n, maxRows)
	}
	for _, f := range rep.Facts {
		if f.Task != "" && (len(f.Lines) < fewest || f.Lines[len(f.Lines)-1] != "and so on" || len(f.Streams) != len(f.Lines)) {
			t.Errorf("its end is %q", f.Lines)
		}
	}
}

// A run that never began has no time that it took.
func TestEndBeforeStart(t *testing.T) {
	for phase, want := range map[run.Phase]string{
		run.Failed:  "r-1 failed before it started: no room",
		run.Stopped: "r-1 was no room before it started",
	} {
		r := run.Run{ID: "r-1", Phase: phase, Verdict: &run.Verdict{Phase: phase, Headline: "no room"}}
		if got := Of(r, nil, time.Now()).Headline; got != want {
			t.Errorf("%s: got %q, want %q", phase, got, want)
		}
	}
}
