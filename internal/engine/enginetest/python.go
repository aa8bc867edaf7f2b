//go:build linux

package enginetest

import (
	"os"
	"os/exec"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
)

// python runs a script of testdata in every worker.
func (b *bench) python(script string) *subject {
	b.Helper()
	found, err := exec.Command("python3", "-c", "import sys; print(sys.executable, sys.base_prefix, sep='\\n')").Output()
	if err != nil {
		b.Skipf("python3 does not run here: %v", err)
	}
	text, err := testdata.ReadFile("testdata/" + script)
	if err == nil {
		err = os.WriteFile(b.path(script), text, 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
	where := strings.Split(string(found), "\n")
	spec := b.command("plain", sizes{"worker": 2}, where[0], b.path(script))
	b.o.Containers.show(spec.Roles["worker"], where[1])
	return b.submit(spec)
}

// pythonHang is what MXNet's workers do: they raise, and then wait for ever
// while the interpreter is torn down.
func pythonHang(b *bench) {
	s := b.python("hang.py")
	r := s.end()
	b.want(r, run.Failed, 1, "task")
	i := b.wantFirst(r, "worker-1", "raised ValueError: bad label")
	if i.Raised == nil || !i.Raised.Hung || i.Raised.At.IsZero() || i.Cause != engine.ByExit || i.Code != 1 {
		b.Errorf("%s", show(i))
	}
	if out := s.logs()["worker-1 stderr"]; !strings.Contains(out, "Traceback") {
		b.Errorf("its traceback: %q", out)
	}
}

func pythonExitHang(b *bench) {
	r := b.python("exit_hang.py").end()
	b.want(r, run.Failed, 3, "task")
	if i := b.wantFirst(r, "worker-1", "exited with code 3"); i.Raised != nil {
		b.Errorf("%s", show(i))
	}
}

// pythonGoesOn has tracebacks of every kind that end no program.
func pythonGoesOn(b *bench) {
	s := b.python("goes_on.py")
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	for _, name := range []string{"worker-0", "worker-1"} {
		if i := b.task(r, name); i.Raised != nil || i.Asked {
			b.Errorf("%s", show(i))
		}
		if n := strings.Count(s.logs()[name+" stderr"], "Traceback"); n != 4 {
			b.Errorf("%s wrote %d of 4 tracebacks", name, n)
		}
	}
}
