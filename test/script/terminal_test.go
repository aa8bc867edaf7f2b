//go:build linux

package script

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var (
	redrawn = regexp.MustCompile(`\x1b\[(\d+)A\x1b\[J`)
	colour  = regexp.MustCompile(`\x1b\[[0-9;]*m`)
)

func TestStatusLines(t *testing.T) {
	t.Parallel()
	term := onTerminal(t, nil, "muster", "run", "-n", "2", "-s", "1", "--", "trainer", "only=worker-0", "print=begun", "wait=$WORK/go", "only=worker-0", "print=over")
	term.await("worker      2/2 running   0:0")
	term.await("worker-0    | begun")
	shown := term.text()
	for _, line := range []string{"scheduler   1/1 running   0:0", "server      1/1 running   0:0"} {
		if !strings.Contains(shown, line) {
			t.Errorf("there is no line %q:\n%s", line, shown)
		}
	}
	// The usage comes when it is known, in the same place.
	term.await("mem ")
	if n := strings.Count(term.text(), "worker      2/2"); n != 1 {
		t.Errorf("%d lines for the workers:\n%s", n, term.text())
	}
	term.touch("go")
	term.ended(0)
	end := term.text()
	if strings.Contains(end, "running") {
		t.Errorf("status lines have stayed:\n%s", end)
	}
	for _, line := range []string{"worker-0    | over", "✓ trainer-", "succeeded in"} {
		if !strings.Contains(end, line) {
			t.Errorf("there is no %q:\n%s", line, end)
		}
	}
	if got := redrawn.FindAllString(term.bytes(), -1); len(got) < 2 {
		t.Errorf("redrawn %d times: %q", len(got), term.bytes())
	}
}

func TestColour(t *testing.T) {
	t.Parallel()
	script := `printf '\033[32mgreen\033[0m \033[2Jwiped \033]0;title\007end\n'; exit 3`
	tests := []struct {
		name   string
		env    []string
		colour bool
		redraw bool
		mark   string
	}{
		{"a terminal", nil, true, true, "✗ sh-"},
		{"NO_COLOR", []string{"NO_COLOR=1"}, false, true, "FAIL sh-"},
		{"a dumb terminal", []string{"TERM=dumb"}, false, false, "FAIL sh-"},
		{"no UTF-8", []string{"LC_ALL=C"}, true, true, "FAIL sh-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			term := onTerminal(t, tt.env, "muster", "run", "--", "sh", "-c", script)
			term.ended(3)
			raw, text := term.bytes(), term.text()
			if got := colour.MatchString(raw); got != tt.colour {
				t.Errorf("colour: %v in %q", got, raw)
			}
			if got := regexp.MustCompile(`\x1b\[[0-9;]*mworker-0`).MatchString(raw); got != tt.colour {
				t.Errorf("a coloured prefix: %v in %q", got, raw)
			}
			if got := strings.Contains(raw, "\x1b[32mgreen"); got != tt.colour {
				t.Errorf("the task's own colour: %v in %q", got, raw)
			}
			if strings.Contains(raw, "\x1b[2J") || strings.Contains(raw, "title") {
				t.Errorf("a control sequence has come through: %q", raw)
			}
			if got := redrawn.MatchString(raw); got && !tt.redraw {
				t.Errorf("status lines in %q", raw)
			}
			if !strings.Contains(text, "| green wiped end") || !strings.Contains(text, tt.mark) {
				t.Errorf("no output, or no %q:\n%s", tt.mark, text)
			}
		})
	}
}

func TestCtrlC(t *testing.T) {
	t.Parallel()
	term := onTerminal(t, nil, "muster", "run", "-n", "2", "--", "trainer", "onterm=0", "touch=up.$MUSTER_TASK", "forever")
	term.awaitFile("up.worker-0")
	term.awaitFile("up.worker-1")
	term.press("\x03")
	term.ended(130)
	for _, line := range []string{"muster: stopping; again to kill", "| got SIGTERM", "was stopped by Ctrl-C"} {
		if !strings.Contains(term.text(), line) {
			t.Errorf("there is no %q:\n%s", line, term.text())
		}
	}
}

func TestCtrlCTwice(t *testing.T) {
	t.Parallel()
	term := onTerminal(t, nil, "muster", "run", "--", "trainer", "ignore=TERM,INT", "touch=up", "forever")
	term.awaitFile("up")
	term.press("\x03")
	term.await("stopping; again to kill")
	term.press("\x03")
	term.ended(130)
	if !strings.Contains(term.text(), "killing what is left") {
		t.Errorf("it does not say so:\n%s", term.text())
	}
}

func TestCtrlZ(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no shell with job control:", err)
	}
	term := onTerminal(t, nil, shell, "-m", "-c",
		`muster run -- trainer touch=up wait=go touch=went wait=end print=over; echo "back in the shell"; read line; fg; exit $?`)
	term.awaitFile("up")
	term.await("worker      1/1 running")
	term.press("\x1a")
	term.await("back in the shell")
	term.touch("go")
	term.awaitFile("went") // the task has not noticed
	term.press("\n")
	term.await("worker      1/1 running")
	term.touch("end")
	term.ended(0)
	if !strings.Contains(term.text(), "| over") || !strings.Contains(term.text(), "succeeded in") {
		t.Errorf("it has not ended well:\n%s", term.text())
	}
}

func TestTerminalGone(t *testing.T) {
	t.Parallel()
	term := onTerminal(t, nil, "muster", "run", "--name", "gone", "--", "trainer", "touch=up", "forever")
	term.awaitFile("up")
	if err := term.keys.Close(); err != nil { // as a window that is closed
		t.Fatal(err)
	}
	term.ended(129)
}

func TestTableFits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long reason ", 12)
	term := onTerminal(t, nil, "sh", "-c", `muster run --name wide -- python3 -c 'raise ValueError("`+long+`")' >/dev/null 2>&1; muster ps`)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3:", err)
	}
	term.ended(0)
	for line := range strings.Lines(term.text()) {
		if n := len([]rune(strings.TrimSpace(line))); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(term.text(), "a long reason") || !strings.Contains(term.text(), "…") {
		t.Errorf("the reason is not cut:\n%s", term.text())
	}
}
