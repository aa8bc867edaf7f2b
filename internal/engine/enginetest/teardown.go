//go:build linux

package enginetest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// codes is a teardown that tells how its task ended.
func (b *bench) codes() string {
	return fmt.Sprintf("echo torn down\necho $MUSTER_TASK ended with $MUSTER_EXIT_CODE >>%s", b.path("codes"))
}

// wantCodes checks which teardowns have run, each once, and what they were told.
func (b *bench) wantCodes(codes map[string]int) {
	b.Helper()
	for task, code := range codes {
		if n := b.lines("codes", fmt.Sprintf("%s ended with %d\n", task, code)); n != 1 {
			b.Errorf("%d teardowns of %s were told %d", n, task, code)
		}
	}
	if n := b.lines("codes", ""); n != len(codes) {
		text, _ := os.ReadFile(b.path("codes"))
		b.Errorf("%d teardowns, want %d:\n%s", n, len(codes), text)
	}
}

// teardownAfter has tasks end by themselves, well and not, by our signal, and
// killed.
func teardownAfter(b *bench) {
	spec := b.job("plain", sizes{"worker": 4}, "daemon", "only=worker-0", "exit=0", "only=worker-3", "ignore=TERM",
		"only=worker-1", "wait="+b.path("go"), "only=worker-1", "exit=7", "print=ready", "forever")
	spec.Roles["worker"].Teardown = b.codes()
	grace := job.Duration(time.Second)
	spec.Stop.Grace = &grace
	s := b.submit(spec)
	b.await("two tasks that wait", func() bool {
		logs := s.logs()
		ends := func(task, last string) bool { return strings.HasSuffix(logs[task+" stdout"], last+"\n") }
		return ends("worker-2", "ready") && ends("worker-3", "ready") && ends("worker-0", "torn down")
	})
	b.touch("go")
	r := s.end()
	b.want(r, run.Failed, 7, "task")
	b.wantFirst(r, "worker-1", "exited with code 7")
	b.wantCodes(map[string]int{"worker-0": 0, "worker-1": 7, "worker-2": 128 + 15, "worker-3": 128 + 9})
	for _, i := range r.Tasks {
		if out := s.logs()[i.Task.String()+" stdout"]; !strings.HasSuffix(out, "torn down\n") || i.Note != "" {
			b.Errorf("%s wrote %q and has the note %q", i.Task, out, i.Note)
		}
	}
}

func teardownWithoutProgram(b *bench) {
	spec := b.job("plain", sizes{"worker": 1}, "forever")
	spec.Roles["worker"].Setup, spec.Roles["worker"].Teardown = "exit 9", b.codes()
	b.want(b.try(spec), run.Failed, 9, "task")
	b.wantCodes(map[string]int{"worker-0": 9})
	spec = b.command("plain", sizes{"other": 1}, "/no/such/program")
	spec.Roles["other"].Teardown = b.codes()
	r := b.try(spec)
	b.want(r, run.Failed, 127, "task")
	b.wantCodes(map[string]int{"worker-0": 9})
	if i := b.task(r, "other-0"); i.Note != "" {
		b.Errorf("%s", show(i))
	}
}

func teardownFails(b *bench) {
	spec := b.job("plain", sizes{"worker": 2}, "print=done")
	spec.Roles["worker"].Teardown = "if [ $MUSTER_TASK = worker-1 ]; then sh -c 'exit 3'; echo further; fi"
	s := b.submit(spec)
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	if note := b.task(r, "worker-1").Note; note != "its teardown failed with code 3" || b.task(r, "worker-0").Note != "" {
		b.Errorf("%s", show(r.Tasks))
	}
	if out := s.logs()["worker-1 stdout"]; out != "done\n" {
		b.Errorf("worker-1 wrote %q", out)
	}
}

// teardownLate leaves a child behind, too.
func teardownLate(b *bench) {
	spec := b.job("plain", sizes{"worker": 1}, "print=done")
	spec.Roles["worker"].Teardown = fmt.Sprintf("trap '' TERM\n%s daemon\nsleep 1000", Binary("trainer"))
	grace := job.Duration(time.Second)
	spec.Stop.Grace = &grace
	r := b.try(spec)
	b.want(r, run.Succeeded, 0, "task")
	if i := b.task(r, "worker-0"); i.Note != "its teardown did not end within 5s and was killed" {
		b.Errorf("%s", show(i))
	}
}

// teardownFirst has the second attempt look whether the first one's teardown is
// still busy.
func teardownFirst(b *bench) {
	spec := b.command("plain", sizes{"worker": 1})
	spec.Roles["worker"].Run = "[ ! -e busy ] || exit 99\nif mkdir failed; then exit 3; fi\n"
	spec.Roles["worker"].Teardown = "touch busy begun\n" + Binary("trainer") + " wait=" + b.path("go") + "\nrm busy"
	spec.Restart.Limit = 1
	s := b.submit(spec)
	s.until("the first failure", func(r run.Run) bool { return r.Phase == run.Restarting })
	b.await("the teardown", func() bool { _, err := os.Stat(b.path("begun")); return err == nil })
	b.touch("go")
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	if r.Attempt != 2 || r.Restarts != 1 {
		b.Errorf("attempt %d, %d restarts; want 2 and 1", r.Attempt, r.Restarts)
	}
}

func teardownHostKilled(b *bench) {
	if b.o.Host == nil {
		b.Skip("nothing stands between this engine and its tasks")
	}
	spec := b.job("plain", sizes{"worker": 1}, "print=done")
	spec.Roles["worker"].Teardown = "touch begun; sleep 1000"
	s := b.submit(spec)
	b.await("the teardown", func() bool { _, err := os.Stat(b.path("begun")); return err == nil })
	s.until("the host knows that the task has ended", func(r run.Run) bool {
		return slices.ContainsFunc(r.Tasks, func(i engine.Instance) bool { return i.State == engine.Clearing })
	})
	s.killHost()
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	if i := b.task(r, "worker-0"); !strings.Contains(i.Note, "its teardown was cut short") {
		b.Errorf("%s", show(i))
	}
}

func teardownLoud(b *bench) {
	spec := b.job("plain", sizes{"worker": 1}, "print=done")
	spec.Logs.Limit = 1 << 20
	spec.Roles["worker"].Teardown = Binary("trainer") + " bytes=4M forever"
	r := b.try(spec)
	b.want(r, run.Succeeded, 0, "task")
	if i := b.task(r, "worker-0"); i.Note != "its teardown wrote more than logs.limit allows and was killed" {
		b.Errorf("%s", show(i))
	}
}
