package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// quiet is an app whose outputs are files.
func quiet(t *testing.T) *app {
	t.Helper()
	a := &app{env: func(string) string { return "" }}
	for name, f := range map[string]**os.File{"stdout": &a.stdout, "stderr": &a.stderr} {
		var err error
		if *f, err = os.Create(filepath.Join(t.TempDir(), name)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = (*f).Close() })
	}
	return a
}

// said is what an output has by now.
func said(t *testing.T, f *os.File) string {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestExitCode(t *testing.T) {
	wrapped := fmt.Errorf("look: %w", problem.New(problem.NotFound, "no run"))
	list := problem.List{problem.New(problem.Invalid, "one"), problem.New(problem.Invalid, "two")}
	tests := []struct {
		name    string
		command string
		err     error
		want    int
		says    string
	}{
		{"success", "ps", nil, 0, ""},
		{"a run's own code", "run", exitStatus(7), 7, ""},
		{"an error", "ps", errors.New("disk"), 1, "FAIL disk\n"},
		{"a conflict", "rm", problem.New(problem.Conflict, "it runs").WithHint("stop it"), 1, "FAIL it runs\n  stop it\n"},
		{"wrong use", "ps", usage{errors.New("unknown flag")}, 2, "FAIL unknown flag\n"},
		{"invalid", "validate", list, 2, "one\ntwo\n2 problems\n"},
		{"not found", "get", wrapped, 3, "FAIL look: no run\n"},
		{"run: not found", "wait", wrapped, run.ExitRefused, "FAIL look: no run\n"},
		{"run: wrong use", "run", usage{errors.New("unknown flag")}, run.ExitRefused, "FAIL unknown flag\n"},
		{"run: an error", "attach", errors.New("disk"), run.ExitRefused, "FAIL disk\n"},
		{"nothing reaches the terminal", "ps", errors.New("a\x1b[2Jb"), 1, "FAIL ab\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := quiet(t)
			if got := a.exitCode(&cobra.Command{Use: tt.command}, tt.err); got != tt.want {
				t.Errorf("exit code %d, want %d", got, tt.want)
			}
			if got := said(t, a.stderr); got != tt.says {
				t.Errorf("it says %q, want %q", got, tt.says)
			}
		})
	}
}

func TestExitOf(t *testing.T) {
	tests := []struct {
		name string
		r    run.Run
		want error
	}{
		{"under way", sample(), nil},
		{"succeeded", ended(run.Succeeded, 0, ""), nil},
		{"failed", ended(run.Failed, 3, "x"), exitStatus(3)},
		{"a limit", ended(run.Failed, run.ExitLimit, "x"), exitStatus(124)},
		{"stopped", ended(run.Stopped, run.ExitStopped, "x"), exitStatus(143)},
	}
	for _, tt := range tests {
		if got := exitOf(tt.r); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestProblems(t *testing.T) {
	var b strings.Builder
	printProblems(&b, problem.List{
		{Kind: problem.Invalid, Where: "muster.yaml:7:5", Field: "roles.worker.replica", Text: `unknown field; did you mean "replicas"?`},
		{Kind: problem.Invalid, Where: "muster.yaml:9:12", Field: "roles.worker.resources.gpus", Text: `"two" is not a whole number`},
		{Kind: problem.Invalid, Field: "env.RANK", Text: "set by Muster", Hint: "remove it"},
		{Kind: problem.Refused, Text: "read it", Cause: errors.New("no such file")},
	})
	golden(t, "problems.golden", b.String())
}

func TestEveryCommandIsGrouped(t *testing.T) {
	for _, c := range newRoot(quiet(t)).Commands() {
		if c.GroupID == "" {
			t.Errorf("%s has no group", c.Name())
		}
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: %q", c.Name(), c.Short)
		}
	}
}

func TestFormats(t *testing.T) {
	v := map[string]any{"code": 3, "took": 1.5, "big": int64(1) << 60, "text": "3", "list": []int{1}}
	b, err := toYAML(v)
	if err != nil {
		t.Fatal(err)
	}
	want := "big: 1152921504606846976\ncode: 3\nlist:\n    - 1\ntext: \"3\"\ntook: 1.5\n"
	if string(b) != want {
		t.Errorf("%s\nwant\n%s", b, want)
	}
	a := quiet(t)
	if err := a.print("name", nil, "a", "b"); err != nil {
		t.Fatal(err)
	}
	if got := said(t, a.stdout); got != "a\nb\n" {
		t.Errorf("names: %q", got)
	}
}
