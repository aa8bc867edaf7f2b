package ui

import (
	"os"
	"path/filepath"
	"testing"

	"muster.dev/muster/test/suite"
)

func environ(m map[string]string) func(string) string {
	return func(k string) string { return m[k] }
}

func TestTerminalStyle(t *testing.T) {
	full := Style{Colour: true, Unicode: true, Terminal: true, Width: 100, Height: 30}
	words := Style{Colour: true, Terminal: true, Width: 100, Height: 30}
	plain := Style{Terminal: true, Width: 100, Height: 30}
	tests := []struct {
		name string
		env  map[string]string
		want Style
	}{
		{"everything", map[string]string{"TERM": "xterm", "LANG": "en_US.UTF-8"}, full},
		{"utf8 without a dash", map[string]string{"TERM": "xterm", "LANG": "de_DE.utf8"}, full},
		{"LC_ALL wins over LANG", map[string]string{"TERM": "xterm", "LC_ALL": "C", "LANG": "en_US.UTF-8"}, words},
		{"LC_CTYPE wins over LANG", map[string]string{"TERM": "xterm", "LC_CTYPE": "C.UTF-8", "LANG": "C"}, full},
		{"no locale", map[string]string{"TERM": "xterm"}, words},
		{"NO_COLOR", map[string]string{"TERM": "xterm", "LANG": "C.UTF-8", "NO_COLOR": "1"}, plain},
		{"dumb", map[string]string{"TERM": "dumb", "LANG": "C.UTF-8"}, Style{}},
		{"no TERM", map[string]string{"LANG": "C.UTF-8"}, Style{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := terminal(100, 30, environ(tt.env)); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestTerminalWithoutSize(t *testing.T) {
	got := terminal(0, 0, environ(map[string]string{"TERM": "vt100"}))
	if got.Width != 80 || got.Height != 24 {
		t.Errorf("got %dx%d, want 80x24", got.Width, got.Height)
	}
}

func TestDetectOnFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	env := environ(map[string]string{"TERM": "xterm", "LANG": "C.UTF-8"})
	if got := Detect(f, env); got != (Style{}) {
		t.Errorf("a file is no terminal, got %+v", got)
	}
}

func TestDetectOnTerminal(t *testing.T) {
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		suite.Require(t, "terminal", "no pseudo terminal here: "+err.Error())
	}
	defer f.Close()
	got := Detect(f, environ(map[string]string{"TERM": "xterm", "LANG": "C.UTF-8"}))
	want := Style{Colour: true, Unicode: true, Terminal: true, Width: 80, Height: 24}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestMarks(t *testing.T) {
	tests := []struct {
		name  string
		style Style
		want  [4]string
	}{
		{"piped", Style{}, [4]string{"ok", "FAIL", "warn", "wait"}},
		{"terminal", Style{Unicode: true}, [4]string{"✓", "✗", "!", "…"}},
		{
			"in colour", Style{Unicode: true, Colour: true},
			[4]string{"\x1b[32m✓\x1b[0m", "\x1b[31m✗\x1b[0m", "\x1b[33m!\x1b[0m", "\x1b[2m…\x1b[0m"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, m := range []Mark{OK, Failed, Warning, Waiting} {
				if got := tt.style.Mark(m); got != tt.want[i] {
					t.Errorf("mark %d: got %q, want %q", m, got, tt.want[i])
				}
			}
		})
	}
}

func TestTaskColours(t *testing.T) {
	s := Style{Colour: true}
	if again := (Style{Colour: true}).Task("worker-0", "x"); s.Task("worker-0", "x") != again {
		t.Error("one task has two colours")
	}
	if s.Task("worker-0", "x") == s.Task("worker-1", "x") {
		t.Error("neighbours share a colour")
	}
	if got := (Style{}).Task("worker-0", "x"); got != "x" {
		t.Errorf("coloured without colour: %q", got)
	}
}

func TestPrefixes(t *testing.T) {
	tests := []struct {
		name  string
		names []string
		from  Stream
		want  string
	}{
		{"stdout", []string{"worker-0", "scheduler-0"}, Out, "worker-0    | "},
		{"stderr", []string{"worker-0"}, Err, "worker-0    ! "},
		{"a long name", []string{"parameter-server-12", "worker-0"}, Out, "worker-0            | "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := NewPrefixes(Style{}, tt.names).Of("worker-0", tt.from); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
