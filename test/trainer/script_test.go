package main

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  string
		steps string // as understood, separated by |
		err   string
	}{
		{"steps in order", "print=a,3|sleep=10ms|exit=7", "print=a,3|sleep=10ms|exit=7", ""},
		{"nothing", "", "", ""},
		{"conditions belong to one step", "only=worker-1|onattempt=2|exit=3|cwd", "exit=3|cwd", ""},
		{"a step of two words", "ignore=TERM|hold|run-x", "ignore=TERM|hold=run-x", ""},
		{"an optional value", "join|join=strict", "join|join=strict", ""},
		{"an equals sign in a value", "print=a=b", "print=a=b", ""},
		{"an unknown step", "print=a|explode", "", "explode: unknown step"},
		{"a step that needs a value", "print", "", "print: want print=TEXT[,N]"},
		{"a step that takes none", "cwd=x", "", "cwd=x: want cwd"},
		{"hold without a run", "hold", "", "hold: want hold RUN"},
		{"a condition at the end", "cwd|only=worker-1", "", "a condition without a step"},
		{"a bad pattern", "only=[|cwd", "", "syntax error in pattern"},
		{"a bad number", "exit=x", "", "exit=x: want 0 to 255"},
		{"a number out of range", "exit=256", "", "want 0 to 255"},
		{"a bad duration", "sleep=3", "", "missing unit"},
		{"a bad size", "alloc=3X", "", "want a size"},
		{"a bad signal", "signal=NOPE", "", "unknown signal NOPE"},
		{"a bad signal in a list", "ignore=TERM,NOPE", "", "unknown signal NOPE"},
		{"a file without text", "file=x", "", "want file=PATH,TEXT"},
		{"a bad join", "join=loose", "", "want join or join=strict"},
		{"a rate of nothing", "rate=0", "", "at least 1"},
		{"a bad wait", "wait=x,y", "", "invalid duration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script, err := parse(strings.FieldsFunc(c.args, func(r rune) bool { return r == '|' }))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error is %v, want %q", err, c.err)
				}
				return
			}
			var got []string
			for _, s := range script {
				got = append(got, s.text)
			}
			if err != nil || strings.Join(got, "|") != c.steps {
				t.Errorf("steps are %q (%v), want %q", got, err, c.steps)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	me := &trainer{task: "worker-1", attempt: "2"}
	for _, c := range []struct {
		args string
		want bool
	}{
		{"only=worker-1 cwd", true},
		{"only=worker-2 cwd", false},
		{"only=worker-* cwd", true},
		{"only=server-* cwd", false},
		{"only=worker-1,2 cwd", true},
		{"only=worker-1,1 cwd", false},
		{"onattempt=2 cwd", true},
		{"onattempt=1 cwd", false},
		{"only=worker-1 onattempt=1 cwd", false},
		{"only=worker-1 onattempt=2 cwd", true},
	} {
		script, err := parse(strings.Fields(c.args))
		if err != nil {
			t.Fatal(err)
		}
		if got := script[0].applies(me); got != c.want {
			t.Errorf("%s: applies %v, want %v", c.args, got, c.want)
		}
	}
}

func TestTextCount(t *testing.T) {
	for _, c := range []struct {
		value, text string
		n           int
	}{
		{"a", "a", 1}, {"a,3", "a", 3}, {"a,b", "a,b", 1}, {"a,b,2", "a,b", 2}, {"a,0", "a", 0}, {"a,-1", "a,-1", 1}, {"", "", 1},
	} {
		if text, n := textCount(c.value); text != c.text || n != c.n {
			t.Errorf("textCount(%q) = %q, %d; want %q, %d", c.value, text, n, c.text, c.n)
		}
	}
}

func TestSize(t *testing.T) {
	for value, want := range map[string]int64{"0": 0, "100": 100, "64K": 64 << 10, "8M": 8 << 20, "1G": 1 << 30} {
		if got, err := size(value); err != nil || got != want {
			t.Errorf("size(%q) = %d, %v; want %d", value, got, err, want)
		}
	}
}

// Every step is listed once, and says what it is for.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range kinds {
		if seen[k.name()] || k.help == "" || (k.make == nil) == (k.cond == nil) {
			t.Errorf("%s is listed twice or half", k.form)
		}
		seen[k.name()] = true
	}
}
