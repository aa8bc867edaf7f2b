//go:build linux

package enginetest

import (
	"slices"

	"muster.dev/muster/internal/control"
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store/memory"
)

// withDevices is an engine that says it has GPUs, wherever the suite runs.
type withDevices struct {
	engine.Engine
	engine.LogReader
	gpus []string
}

func (e withDevices) Capabilities() engine.Capabilities {
	c := e.Engine.Capabilities()
	c.GPUs = e.gpus
	return c
}

// devices: GPUs are given out whole and disjoint, and who finds none waits.
func devices(b *bench) {
	reader, ok := b.e.(engine.LogReader)
	if !ok || b.o.Containers != nil {
		b.Skip("a container runtime looks for the devices themselves, and there are none")
	}
	b.plane = control.New(control.Config{
		StateDir: b.state, Store: memory.New(), Exe: Binary("muster"), Engine: withDevices{b.e, reader, []string{"4", "7"}},
	})
	holding := b.job("plain", sizes{"worker": 2}, "env=CUDA_VISIBLE_DEVICES", "wait="+b.path("go"))
	holding.Roles["worker"].Resources.GPUs = 1
	next := b.job("plain", sizes{"worker": 1}, "env=CUDA_VISIBLE_DEVICES")
	next.Roles["worker"].Resources.GPUs = 2
	first := b.submit(holding)
	first.until("running tasks", func(r run.Run) bool { return all(r, 2, running) })
	second := b.submit(next)
	second.until("a run that waits", func(r run.Run) bool { return r.Phase == run.Pending && r.Grant == nil && r.Reason != "" })
	b.touch("go")
	b.want(first.end(), run.Succeeded, 0, "task")
	b.want(second.end(), run.Succeeded, 0, "task")
	got := []string{first.logs()["worker-0 stdout"], first.logs()["worker-1 stdout"]}
	slices.Sort(got)
	want := []string{"CUDA_VISIBLE_DEVICES=4\n", "CUDA_VISIBLE_DEVICES=7\n"}
	if all := second.logs()["worker-0 stdout"]; !slices.Equal(got, want) || all != "CUDA_VISIBLE_DEVICES=4,7\n" {
		b.Errorf("the first run's tasks saw %q, the second's %q", got, all)
	}
}

// resized: a suspended gang comes back in another size.
func resized(b *bench) {
	s := b.submit(b.job("torch", sizes{"worker": 1}, "env=WORLD_SIZE", "onattempt=1", "forever"))
	s.until("a running task", func(r run.Run) bool { return all(r, 1, running) })
	s.update(run.Intent{Want: run.WantSuspend, By: "the test"})
	s.until("a suspended run", func(r run.Run) bool { return r.Phase == run.Suspended })
	s.update(run.Intent{Want: run.WantRun, Sizes: map[string]int{"worker": 3}})
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	if r.Attempt != 2 || r.Restarts != 0 || len(r.Tasks) != 3 {
		b.Errorf("attempt %d of %d tasks, %d restarts; want 2 of 3, and none", r.Attempt, len(r.Tasks), r.Restarts)
	}
	for _, t := range r.Spec.Tasks() {
		if got := s.logsOf(run.LogQuery{Tail: -1, Attempt: 2, Tasks: []string{t.String()}})[t.String()+" stdout"]; got != "WORLD_SIZE=3\n" {
			b.Errorf("%s saw %q", t, got)
		}
	}
}
