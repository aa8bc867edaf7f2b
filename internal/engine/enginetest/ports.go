//go:build linux

package enginetest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// number is a port that nobody has, and that the kernel gives to nobody who
// does not ask for it.
func (b *bench) number() int {
	b.Helper()
	for range 100 {
		n := 10000 + rand.IntN(20000)
		if l, err := net.Listen("tcp4", fmt.Sprintf("0.0.0.0:%d", n)); err == nil {
			_ = l.Close()
			return n
		}
	}
	b.Fatal("no port is free")
	return 0
}

// servesOnPorts has two tasks choose free ports and one have a number, and asks
// them there.
func servesOnPorts(b *bench) {
	number := b.number()
	spec := b.job("plain", sizes{"api": 1, "web": 2}, "env=MUSTER_PORT*", "listen=MUSTER_PORT", "forever")
	spec.Roles["api"].Ports, spec.Roles["web"].Ports = []int{number, 0}, []int{0}
	for _, role := range spec.Roles {
		role.Health = &job.Health{TCP: "ports[0]", Every: job.Duration(20 * time.Millisecond), Timeout: job.Duration(patience), Failures: 1 << 10}
	}
	s := b.submit(spec)
	r := s.until("tasks that answer", func(r run.Run) bool {
		return all(r, 3, func(i engine.Instance) bool { return i.Ready })
	})
	seen := map[int]bool{}
	for _, i := range r.Tasks {
		for _, port := range i.Listen {
			if port == 0 || seen[port] {
				b.Errorf("%s has %v", i.Task, i.Listen)
			}
			seen[port] = true
		}
		list := strings.ReplaceAll(strings.Trim(fmt.Sprint(i.Listen), "[]"), " ", ",")
		want := fmt.Sprintf("MUSTER_PORT=%d\nMUSTER_PORTS=%s\nlistening on 127.0.0.1:%d\n", i.Listen[0], list, i.Listen[0])
		b.await(fmt.Sprintf("%s to write %q", i.Task, want), func() bool { return s.logs()[i.Task.String()+" stdout"] == want })
	}
	if got := b.task(r, "api-0").Listen; len(got) != 2 || got[0] != number {
		b.Errorf("api-0 has %v, and asked for %d", got, number)
	}
	s.update(run.Intent{Want: run.WantStop, By: "the test"})
	b.want(s.end(), run.Stopped, run.ExitStopped, "muster")
}

// serving is a job whose only task has a port with a number.
func (b *bench) serving(number int, steps ...string) job.Spec {
	spec := b.job("plain", sizes{"web": 1}, steps...)
	spec.Roles["web"].Ports = []int{number}
	return spec
}

// keptOut checks that a run did not get its port, and whom it blames.
func (b *bench) keptOut(r run.Run, number int, by string) {
	b.Helper()
	b.want(r, run.Failed, 125, "task")
	words := fmt.Sprintf("could not be started: port %d (roles.web.ports) is in use by %s", number, by)
	if i := b.wantFirst(r, "web-0", words); i.Cause != engine.StartFailed || !strings.HasSuffix(r.Verdict.Headline, "use port 0 and $MUSTER_PORT") {
		b.Errorf("%s: %s", show(i), r.Verdict.Headline)
	}
	if f := r.Verdict.First; f.Class != run.Retryable {
		b.Errorf("%s", f.Class)
	}
}

func portOfProgram(b *bench) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	number := l.Addr().(*net.TCPAddr).Port
	b.keptOut(b.try(b.serving(number, "touch="+b.path("started"))), number, fmt.Sprintf("process %d (", os.Getpid()))
	if _, err := os.Stat(b.path("started")); err == nil {
		b.Error("it was started without its port")
	}
}

// portOfRun asks for the port of a run that does not even listen on it.
func portOfRun(b *bench) {
	number := b.number()
	first := b.submit(b.serving(number, "print=ready", "forever"))
	first.up(1)
	b.keptOut(b.try(b.serving(number)), number, "run "+first.id)
	first.update(run.Intent{Want: run.WantStop, By: "the test"})
	first.end()
	b.want(b.try(b.serving(number, "listen=MUSTER_PORT")), run.Succeeded, 0, "task")
}

// portAgain has a task fail while it listens, with somebody connected, which
// leaves a trace of the port in the kernel.
func portAgain(b *bench) {
	number := b.number()
	spec := b.command("plain", sizes{"web": 1})
	spec.Roles["web"].Ports = []int{number}
	spec.Roles["web"].Run = fmt.Sprintf(`if mkdir %[1]s/failed; then exec %[2]s listen=MUSTER_PORT print=ready wait=%[1]s/go exit=3; fi
exec %[2]s listen=MUSTER_PORT`, b.work, Binary("trainer"))
	spec.Restart.Limit, spec.Restart.Scope = 1, "task"
	s := b.submit(spec)
	s.up(1)
	c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", number))
	if err != nil {
		b.Fatal(err)
	}
	b.touch("go")
	s.until("its second start", func(r run.Run) bool { return all(r, 1, func(i engine.Instance) bool { return i.Try == 2 }) })
	_ = c.Close()
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	if i := b.task(r, "web-0"); i.Try != 2 || len(i.Listen) != 1 || i.Listen[0] != number {
		b.Errorf("%s", show(i))
	}
}
