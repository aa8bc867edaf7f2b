//go:build linux

package script

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"muster.dev/muster/test/suite"
)

// notBroken checks that only what stays whole was longer than the terminal:
// paths, commands to type, and what tasks write.
func notBroken(t *testing.T, term *terminal) {
	t.Helper()
	for _, row := range term.broken() {
		if !strings.Contains(row, "/") && !strings.HasPrefix(row, "  muster ") && !strings.HasPrefix(row, "worker-1    ! ") {
			t.Errorf("longer than the terminal: %q in\n%s", row, term.text())
		}
	}
}

func TestNarrowRun(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{60, 40} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			term := onTerminalOf(t, columns, nil, "muster", "run", "-n", "2", "--name", "narrow", "--", "sh", "-c",
				`echo 训练🚀 begun; until test -e $WORK/go; do sleep 0.05; done; echo 第二行; test $MUSTER_TASK = worker-1 || sleep 600; echo "训练失败了，因为没有梯度，请检查数据和学习率然后再试一次" >&2; exit 3`)
			term.await("worker-0    | 训练🚀 begun")
			term.await("cpu")
			if n := strings.Count(term.text(), "2/2 running"); n != 1 {
				t.Errorf("%d lines for the workers:\n%s", n, term.text())
			}
			term.touch("go")
			term.ended(3)
			notBroken(t, term)
			text := term.text()
			for _, want := range []string{"worker-1    | 第二行", "✗ narrow-", "its end   worker-1    ! 训练"} {
				if !strings.Contains(text, want) {
					t.Errorf("there is no %q:\n%s", want, text)
				}
			}
			if strings.Contains(text, "running") && strings.Contains(text, "2/2") {
				t.Errorf("status lines have stayed:\n%s", text)
			}
		})
	}
}

func TestNarrowPs(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		suite.Require(t, "script", "no python3: "+err.Error())
	}
	for columns, reason := range map[int]string{60: "worker-0 raised 训…", 40: "worker-0"} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			term := onTerminalOf(t, columns, nil, "sh", "-c",
				`muster run --name narrow -- python3 -c 'raise type("训练失败了因为没有梯度", (Exception,), {})' >/dev/null 2>&1
				muster run -d --name goes-on -- sh -c 'until test -e $WORK/go; do sleep 0.05; done' >/dev/null 2>&1
				trap : INT; muster ps --watch; muster stop goes-on 2>/dev/null`)
			term.await("goes-on-")
			term.await(reason)
			term.touch("go")
			term.await("Succeeded")
			term.press("\x03")
			term.ended(0)
			notBroken(t, term)
			if n := strings.Count(term.text(), "narrow-"); n != 1 {
				t.Errorf("narrow is in %d lines, want the last state only:\n%s", n, term.text())
			}
		})
	}
}

func TestNarrowSuspended(t *testing.T) {
	t.Parallel()
	term := onTerminalOf(t, 40, nil, "muster", "run", "--name", "held", "--set", "suspend=true", "--", "true")
	term.await("Suspended: suspended by its job file;\n  muster resume held-")
	term.press("\x03")
	term.ended(130)
	notBroken(t, term)
}
