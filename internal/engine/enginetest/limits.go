//go:build linux

package enginetest

import (
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

func (b *bench) wantLimit(r run.Run, kind run.FailureKind, words string) {
	b.Helper()
	b.want(r, run.Failed, run.ExitLimit, "muster")
	if f := r.Verdict.First; f == nil || f.Kind != kind || !strings.Contains(r.Verdict.Headline, words) {
		b.Errorf("%s; want %s: %s", show(r.Verdict), kind, words)
	}
}

func rendezvousLimit(b *bench) {
	spec := b.job("torch", sizes{"worker": 3}, "only=worker-1", "forever", "join", "forever")
	spec.Limits.Rendezvous = job.Duration(5 * time.Second)
	r := b.try(spec)
	b.wantLimit(r, run.OfRendezvous, "worker-1 did not join the others within limits.rendezvous, 5s")
	if m := r.Verdict.First.Missing; len(m) != 1 || m[0].String() != "worker-1" {
		b.Errorf("missing: %v", m)
	}
}

func stallLimit(b *bench) {
	spec := b.job("plain", sizes{"worker": 2}, "only=worker-0", "sleep=300ms", "print=up", "forever")
	spec.Limits.Stall = job.Duration(time.Second)
	b.wantLimit(b.try(spec), run.OfStall, "no task wrote anything for limits.stall, 1s")
}

func runLimit(b *bench) {
	spec := b.job("plain", sizes{"worker": 2}, "forever")
	spec.Limits.Run = job.Duration(time.Second)
	spec.Restart.Limit = 5
	r := b.try(spec)
	b.wantLimit(r, run.OfRunLimit, "longer than limits.run, 1s")
	if r.Attempt != 1 {
		b.Errorf("attempt %d", r.Attempt)
	}
}

func logLimit(b *bench) {
	spec := b.job("plain", sizes{"worker": 2}, "only=worker-1", "bytes=1M", "setsid", "forever")
	spec.Logs.Limit = 64 << 10
	r := b.try(spec)
	b.wantLimit(r, "task", "wrote more than its logs.limit")
	if i := b.wantFirst(r, "worker-1", "64Ki"); i.Cause != engine.ByLogLimit {
		b.Errorf("%s", show(i))
	}
}

func memoryLimit(b *bench) {
	if !b.o.Memory {
		b.Skip("this user may make no control groups here")
	}
	spec := b.job("plain", sizes{"worker": 2}, "only=worker-1", "alloc=512M", "forever")
	spec.Roles["worker"].Resources.Memory = 64 << 20
	spec.Roles["worker"].Teardown = "if [ $MUSTER_TASK = worker-1 ]; then " + b.codes() + "; fi"
	r := b.try(spec)
	b.want(r, run.Failed, 137, "task")
	b.wantCodes(map[string]int{"worker-1": 137})
	i := b.wantFirst(r, "worker-1", "ran out of memory")
	if i.Cause != engine.ByOOM || i.Signal != "KILL" || !strings.Contains(i.Detail, "64Mi") || !strings.Contains(i.Detail, "oom_kill") {
		b.Errorf("%s", show(i))
	}
	if r.Verdict.First.Class != run.Permanent {
		b.Errorf("it is %s", r.Verdict.First.Class)
	}
}
