//go:build linux

package enginetest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// restartJob has every task hold a lock for its attempt, which fails when two
// attempts are alive at once.
func restartJob(b *bench) {
	spec := b.job("plain", sizes{"worker": 3}, "lock="+b.path("alive"), "record="+b.path("starts"), "daemon",
		"only=worker-1,1", "wait="+b.path("go"), "only=worker-1,1", "exit=3", "onattempt=1", "forever")
	spec.Restart.Limit = 2
	s := b.submit(spec)
	b.started(3)
	b.touch("go")
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	if r.Attempt != 2 || r.Restarts != 1 {
		b.Errorf("attempt %d after %d restarts, want 2 after 1", r.Attempt, r.Restarts)
	}
	if len(r.Failures) != 1 || r.Failures[0].Task.String() != "worker-1" || len(r.Failures[0].Then) != 2 {
		b.Errorf("the failure of the first attempt: %s", show(r.Failures))
	}
	for attempt := 1; attempt <= 2; attempt++ {
		if n := b.lines("starts", fmt.Sprintf(`"attempt":"%d"`, attempt)); n != 3 {
			b.Errorf("%d of 3 tasks were started in attempt %d", n, attempt)
		}
	}
}

// ownCheckpoint has the second attempt find what the first has left, in a folder
// that is made for it.
func ownCheckpoint(b *bench) {
	spec := b.command("plain", sizes{"worker": 1})
	spec.Checkpoint = filepath.Join(b.TempDir(), "of", "mine")
	spec.Roles["worker"].Run = "if mkdir $MUSTER_CHECKPOINT_DIR/one; then exit 3; fi"
	spec.Restart.Limit = 1
	r := b.try(spec)
	b.want(r, run.Succeeded, 0, "task")
	if r.Attempt != 2 {
		b.Errorf("attempt %d, want 2", r.Attempt)
	}
	if _, err := b.plane.Update(b.Context(), r.ID, run.Intent{Want: run.WantRemove}); err != nil {
		b.Fatal(err)
	}
	if st, err := os.Stat(spec.Checkpoint + "/one"); err != nil || !st.IsDir() {
		b.Errorf("it went with the run: %v", err)
	}
	if st, err := os.Stat(spec.Checkpoint); err != nil || st.Mode().Perm() != 0o700 {
		b.Errorf("%v, %v", st, err)
	}
}

// failingOnce is a job whose task a-1 fails at its first start; all others wait
// for its second one.
func (b *bench) failingOnce(scope string) job.Spec {
	script := fmt.Sprintf(`echo $MUSTER_TASK >>%[1]s/starts
if [ $MUSTER_TASK = a-1 ] && mkdir %[1]s/failed; then
	while [ $(wc -l <%[1]s/starts) -lt 3 ]; do sleep 0.02; done
	exit 3
fi
if [ $MUSTER_TASK = a-1 ]; then touch %[1]s/again; fi
exec %[2]s wait=%[1]s/again`, b.work, Binary("trainer"))
	spec := b.command("plain", sizes{"a": 2, "b": 1})
	for _, role := range spec.Roles {
		role.Run = script
	}
	spec.Restart.Limit, spec.Restart.Scope = 1, scope
	return spec
}

func (b *bench) wantStarts(r run.Run, starts map[string]int) {
	b.Helper()
	b.want(r, run.Succeeded, 0, "task")
	if r.Attempt != 1 || r.Restarts != 1 {
		b.Errorf("attempt %d, %d restarts; want 1 and 1", r.Attempt, r.Restarts)
	}
	for task, n := range starts {
		if got := b.lines("starts", task); got != n || b.task(r, task).Try != n {
			b.Errorf("%s was started %d times, its try is %d; want %d", task, got, b.task(r, task).Try, n)
		}
	}
}

func restartTask(b *bench) {
	r := b.try(b.failingOnce("task"))
	b.wantStarts(r, map[string]int{"a-0": 1, "a-1": 2, "b-0": 1})
}

func restartRole(b *bench) {
	r := b.try(b.failingOnce("role"))
	b.wantStarts(r, map[string]int{"a-0": 2, "a-1": 2, "b-0": 1})
}

func budget(b *bench) {
	for _, scope := range []string{"job", "task"} {
		name := scope + "-starts"
		spec := b.job("plain", sizes{"worker": 2}, "only=worker-1", "record="+b.path(name), "only=worker-1", "exit=3", "forever")
		spec.Restart.Limit, spec.Restart.Scope = 2, scope
		r := b.try(spec)
		b.want(r, run.Failed, 3, "task")
		if n := b.lines(name, "worker-1"); n != 3 || r.Restarts != 2 || len(r.Failures) != 2 {
			b.Errorf("by %s: %d starts, %d restarts, %d earlier failures; want 3, 2, 2", scope, n, r.Restarts, len(r.Failures))
		}
	}
}

func portTaken(b *bench) {
	r := b.try(b.job("torch", sizes{"worker": 2},
		"only=worker-0,1", "stderr=bind: Address already in use", "only=worker-0,1", "exit=1", "join"))
	b.want(r, run.Succeeded, 0, "task")
	if r.Attempt != 2 || r.Restarts != 0 {
		b.Errorf("attempt %d, %d restarts; want 2 and 0", r.Attempt, r.Restarts)
	}
}

// portStaysTaken asks for a port that somebody else listens on for good.
func portStaysTaken(b *bench) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	spec := b.job("torch", sizes{"worker": 2}, "only=worker-0", "join", "forever")
	spec.Framework.Port = l.Addr().(*net.TCPAddr).Port
	r := b.try(spec)
	b.want(r, run.Failed, 1, "task")
	if i := b.wantFirst(r, "worker-0", "exited with code 1"); !i.PortTaken {
		b.Errorf("%s", show(i))
	}
	if r.Attempt != 4 || r.Restarts != 0 {
		b.Errorf("attempt %d, %d restarts; want 4 and 0", r.Attempt, r.Restarts)
	}
	if out := b.lastErrors(r); !strings.Contains(out, "address already in use") {
		b.Errorf("worker-0 wrote %q", out)
	}
}

func (b *bench) lastErrors(r run.Run) string {
	s := &subject{b: b, id: r.ID}
	return s.logs()["worker-0 stderr"]
}

// serves has one task end well: with success: none that is no success.
func serves(b *bench) {
	spec := b.command("plain", sizes{"worker": 2})
	for _, role := range spec.Roles {
		role.Run = fmt.Sprintf(`if [ $MUSTER_TASK = worker-1 ] && mkdir %[1]s/ended; then exit 0; fi
exec %[2]s print=ready forever`, b.work, Binary("trainer"))
	}
	spec.Success, spec.Restart.Limit = "none", 1
	s := b.submit(spec)
	s.until("worker-1 that runs again", func(r run.Run) bool {
		return r.Restarts == 1 && all(r, 2, running) && b.task(r, "worker-1").Try == 2
	})
	s.up(2)
	s.update(run.Intent{Want: run.WantStop, By: "the test"})
	r := s.end()
	b.want(r, run.Stopped, run.ExitStopped, "muster")
	if b.task(r, "worker-0").Try != 1 || r.Attempt != 1 {
		b.Errorf("worker-0 was started again: %s", show(r.Tasks))
	}
}
