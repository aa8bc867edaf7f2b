package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/report"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

func TestWrap(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"short", "a b", []string{"a b"}},
		{"empty", "", []string{""}},
		{"at the width", "aaaa bbbbb", []string{"aaaa bbbbb"}},
		{"beyond it", "aaaa bbbbbb", []string{"aaaa", "bbbbbb"}},
		{"a word that is too long", "a bbbbbbbbbbbbbb c", []string{"a", "bbbbbbbbbbbbbb", "c"}},
		{"wide gaps stay", "aa   bb", []string{"aa   bb"}},
		{"but not at the end of a line", "aaaaaaaa   bb", []string{"aaaaaaaa", "bb"}},
		{"wide characters", "日本語日 x", []string{"日本語日 x"}},
		{"wide characters beyond", "日本語日本 x", []string{"日本語日本", "x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := wrap(tt.in, 10); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestLastState(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a line", "loss 0.1\n", "loss 0.1"},
		{"of Windows", "loss 0.1\r\n", "loss 0.1"},
		{"a progress bar", "\r 10%|#\r 90%|####\r100%|#####\n", "100%|#####"},
		{"a bar that was wiped", " 90%|####\r          \n", " 90%|####"},
		{"control sequences", "\x1b[31mred\x1b[0m\x1b[2J\n", "red"},
		{"nothing", " \n", ""},
	}
	for _, tt := range tests {
		if got := lastState([]byte(tt.in)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestEnding(t *testing.T) {
	out := func(text string) report.Line { return report.Line{Stream: engine.Stdout, Text: text} }
	errs := func(text string) report.Line { return report.Line{Stream: engine.Stderr, Text: text} }
	tests := []struct {
		name     string
		in, want []report.Line
	}{
		{"only stdout", []report.Line{out("a"), out("b")}, []report.Line{out("a"), out("b")}},
		{"stderr says why", []report.Line{out("a"), errs("b"), out("c")}, []report.Line{errs("b")}},
		{"the last ones", slices.Repeat([]report.Line{out("a")}, 20), slices.Repeat([]report.Line{out("a")}, lastLines)},
	}
	for _, tt := range tests {
		if got := ending(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestOutputs(t *testing.T) {
	failed, won := ended(run.Failed, 1, "x"), ended(run.Succeeded, 0, "")
	failed.Origin.RunDir, won.Origin.RunDir = "/d", "/d"
	if got := outputs(failed); got != nil {
		t.Errorf("a failed run that kept nothing: %q", got)
	}
	if got := outputs(won); !slices.Equal(got, []string{"/d/outputs   empty"}) {
		t.Errorf("a run that kept nothing: %q", got)
	}
	if got := outputs(sample()); got != nil {
		t.Errorf("a run under way: %q", got)
	}
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 100))
	if err := os.MkdirAll(filepath.Join(dir, "outputs", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "outputs", "sub", "a.params"), make([]byte, 2100), 0o600); err != nil {
		t.Fatal(err)
	}
	failed.Origin.RunDir = dir
	if got := outputs(failed); !slices.Equal(got, []string{filepath.Join(dir, "outputs"), "sub/a.params 2.1 KB"}) {
		t.Errorf("a file: %q", got)
	}
}

func TestDrawReport(t *testing.T) {
	reports := map[string]report.Report{
		"report_failed.golden": {
			Tone: report.Bad, Headline: "train-p7xq failed after 5.0s: worker-1 raised ValueError: bad label",
			Facts: []report.Fact{
				{Label: "first", Lines: []string{"worker-1 at 03:25:02.16 on vm, pid 41277. It printed a traceback and then hung while Python was ending, as MXNet workers do; Muster ended it after 2.0s."}},
				{Label: "its end", Task: "worker-1", Lines: []string{"Traceback (most recent call last):", "ValueError: bad label"}, Streams: []engine.Stream{engine.Stderr, engine.Stdout}},
				{Label: "class", Lines: []string{"permanent"}},
			},
			Next: []report.Step{{Command: "muster logs train-p7xq --task worker-1", Why: "its whole log"}, {Command: "muster get train-p7xq", Why: "every task"}},
		},
		"report_good.golden": {
			Tone: report.Good, Headline: "digits-k3f9 succeeded in 5.6s: both workers finished",
			Facts: []report.Fact{{Label: "outputs", Lines: []string{"/d/outputs   digits.params 21 KB"}}},
			Next:  []report.Step{{Command: "muster logs digits-k3f9"}, {Command: "muster get digits-k3f9"}},
		},
		"report_waiting.golden": {Tone: report.Waiting, Headline: "bert-2mzc has waited 3m12s for 2 GPUs"},
	}
	for name, rep := range reports {
		a := quiet(t)
		a.drawReport(a.stdout, rep)
		golden(t, name, said(t, a.stdout))
	}
}

func TestLongLinesAreCutOnATerminal(t *testing.T) {
	fact := report.Fact{Label: "its end", Task: "worker-1", Lines: []string{strings.Repeat("x", 200)}, Streams: []engine.Stream{engine.Stderr}}
	var onTerminal, piped strings.Builder
	drawFact(&onTerminal, ui.Style{Terminal: true, Width: 60}, fact)
	drawFact(&piped, ui.Style{}, fact)
	if n := ui.Width(strings.TrimRight(onTerminal.String(), "\n")); n > 59 {
		t.Errorf("%d columns on a terminal of 60", n)
	}
	if !strings.Contains(piped.String(), strings.Repeat("x", 200)) {
		t.Error("cut where nothing needs it")
	}
}
