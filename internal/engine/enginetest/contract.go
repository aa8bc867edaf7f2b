//go:build linux

package enginetest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/problem"
)

func heldOnly(b *bench) {
	g := b.gang(3, "record="+b.path("starts"), "forever")
	v := g.watch(func(ctx context.Context, seen func(engine.Observed) error) error { return b.e.Watch(ctx, g.run, seen) })
	v.until("an answer", func(o engine.Observed) bool { return o.Synced })
	if err := b.e.Apply(b.Context(), g.run, desired(g.wants, engine.Held, 1)); err != nil {
		b.Fatal(err)
	}
	o := v.every("held places", func(i engine.Instance) bool { return i.State == engine.Holding })
	var ports []int
	for _, i := range o.Instances {
		if i.Addr == "" || len(i.Ports) != 1 || len(i.Listen) != 1 || i.Listen[0] == 0 {
			b.Fatalf("a place without address or port: %s", show(i))
		}
		ports = append(ports, i.Ports...)
	}
	if !slices.IsSorted(ports) || len(slices.Compact(ports)) != 3 {
		b.Errorf("ports %v do not ascend", ports)
	}
	if err := b.e.Apply(b.Context(), g.run, desired(g.wants, engine.Stopped, 1)); err != nil {
		b.Fatal(err)
	}
	v.until("no places", func(o engine.Observed) bool { return len(o.Instances) == 0 })
	g.forget(b.e)
	if n := b.lines("starts", ""); n != 0 {
		b.Errorf("%d tasks were started", n)
	}
}

func applyTwice(b *bench) {
	g := b.gang(3, "record="+b.path("starts"), "forever")
	v := g.own(b.e)
	first := v.every("running tasks", running)
	b.started(3)
	for range 5 {
		if err := b.e.Apply(b.Context(), g.run, desired(g.wants, engine.Launched, 1)); err != nil {
			b.Fatal(err)
		}
	}
	// Applied in order: when the stop has been heeded, so have the others.
	g.dismiss(b.e, v)
	last, _ := v.now()
	if n := b.lines("starts", `"start"`); n != 3 || len(last.Instances) != 3 {
		b.Errorf("%d starts, %d instances; want 3", n, len(last.Instances))
	}
	for n, i := range last.Instances {
		if !i.Started.Equal(first.Instances[n].Started) {
			b.Errorf("%s was started anew", i.Instance)
		}
	}
}

// started waits until n tasks have recorded their start.
func (b *bench) started(n int) {
	b.Helper()
	b.await("the tasks' records", func() bool { return b.lines("starts", `"start"`) >= n })
}

func unwanted(b *bench) {
	g := b.gang(3, "daemon", "forever")
	v := g.own(b.e)
	v.every("running tasks", running)
	d := desired(g.wants, engine.Launched, 1)
	d.Tasks = d.Tasks[:2]
	if err := b.e.Apply(b.Context(), g.run, d); err != nil {
		b.Fatal(err)
	}
	o := v.until("the end of the third", func(o engine.Observed) bool { return gone(o.Instances[2]) })
	if i := o.Instances[2]; !i.Asked || i.Signal != "TERM" {
		b.Errorf("%s", show(i))
	}
	if !running(o.Instances[0]) || !running(o.Instances[1]) {
		b.Errorf("the others: %s", show(o.Instances))
	}
	g.dismiss(b.e, v)
}

func watchEnds(b *bench) {
	g := b.gang(1, "forever")
	ctx, cancel := context.WithCancel(b.Context())
	err := b.e.Watch(ctx, g.run, func(engine.Observed) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		b.Errorf("%v, want the context's error", err)
	}
	own := errors.New("own")
	if err := b.e.Watch(b.Context(), g.run, func(engine.Observed) error { return own }); err != own {
		b.Errorf("%v, want seen's own error", err)
	}
	g.forget(b.e)
}

func forgetUnknown(b *bench) {
	g := b.gang(1, "forever")
	g.forget(b.e)
	g.forget(b.e)
}

func staleFence(b *bench) {
	g := b.gang(2, "record="+b.path("starts"), "forever")
	old, next := g.run, b.o.New()
	before := g.own(b.e)
	before.every("running tasks", running)
	b.started(2)
	g.run.Fence = 2
	v := g.own(next)
	v.every("running tasks", running)
	for what, err := range map[string]error{
		"the old owner's watch":          before.failure(),
		"the old owner's apply":          b.e.Apply(b.Context(), old, desired(g.wants, engine.Stopped, 1)),
		"an apply below the run's fence": next.Apply(b.Context(), g.run, desired(g.wants, engine.Stopped, 1)),
		"a late owner's watch":           b.o.New().Watch(b.Context(), old, func(engine.Observed) error { return nil }),
	} {
		if problem.KindOf(err) != problem.Stale {
			b.Errorf("%s: %v, want it to be stale", what, err)
		}
	}
	v.every("tasks that nobody has touched", func(i engine.Instance) bool { return running(i) && !i.Asked })
	g.dismiss(next, v)
	if n := b.lines("starts", `"start"`); n != 2 {
		b.Errorf("%d starts", n)
	}
}

// nextOwner has an owner that stops watching, as one does that is about to be
// replaced, and a next one that finds everything as it was.
func nextOwner(b *bench) {
	g := b.gang(2, "record="+b.path("starts"), "print=ready", "wait="+b.path("go"), "only=worker-1", "exit=3")
	first := g.own(b.e)
	o := first.every("running tasks", running)
	first.cancel()
	if err := first.failure(); !errors.Is(err, context.Canceled) {
		b.Fatal(err)
	}
	next := b.o.New()
	g.run.Fence = 7
	v := g.own(next)
	now := v.every("the same tasks", running)
	for n, i := range now.Instances {
		if was := o.Instances[n]; !i.Started.Equal(was.Started) || !slices.Equal(i.Ports, was.Ports) || i.Instance != was.Instance {
			b.Errorf("was %s\nis  %s", show(was), show(i))
		}
	}
	b.touch("go")
	end := v.every("the end", gone)
	if end.Instances[0].Failed() || end.Instances[1].Code != 3 {
		b.Errorf("%s", show(end.Instances))
	}
	g.forget(next)
	if n := b.lines("starts", `"start"`); n != 2 {
		b.Errorf("%d starts", n)
	}
}

func detachedOwnerDies(b *bench) {
	g := b.gang(2, "record="+b.path("starts"), "setsid", "wait="+b.path("go"))
	g.run.Attached = false
	before, owner := g.ownElsewhere()
	before.every("running tasks", running)
	b.kill(owner)
	g.run.Fence = 2
	v := g.own(b.e)
	v.every("running tasks", running)
	b.touch("go")
	o := v.every("the end", gone)
	for _, i := range o.Instances {
		if i.Failed() || i.Asked {
			b.Errorf("%s", show(i))
		}
	}
	g.forgetDeserted()
	if n := b.lines("starts", `"start"`); n != 2 {
		b.Errorf("%d starts", n)
	}
}

// forgetDeserted forgets a run whose host may have started owners meanwhile.
func (g *gang) forgetDeserted() {
	g.b.Helper()
	if err := g.b.e.Forget(g.b.Context(), g.run); err != nil {
		g.b.Fatal(err)
	}
	g.nothingLeft(afterLoss)
}

func endedAlone(b *bench) {
	g := b.gang(2, "wait="+b.path("go"), "only=worker-1", "exit=9", "touch="+b.path("over"))
	g.run.Attached = false
	before, owner := g.ownElsewhere()
	before.every("running tasks", running)
	b.kill(owner)
	b.touch("go")
	b.await("the end of the tasks", func() bool { return len(g.tasks("worker-0"))+len(g.tasks("worker-1")) == 0 })
	g.run.Fence = 2
	v := g.own(b.e)
	o := v.every("the end", gone)
	if o.Instances[0].Failed() || o.Instances[1].Code != 9 || o.Instances[1].Cause != engine.ByExit {
		b.Errorf("%s", show(o.Instances))
	}
	g.forgetDeserted()
}

func attachedOwnerDies(b *bench) {
	g := b.gang(2, append(slices.Clone(leaveAll), "only=worker-1", "onterm=5", "print=ready", "forever")...)
	g.run.Grace = 0 // the others ignore what asks them to end
	before, owner := g.ownElsewhere()
	before.every("running tasks", running)
	b.kill(owner)
	b.await("the end of the tasks", func() bool { return len(g.processes()) == 0 })
	g.run.Fence = 2
	v := g.own(b.e)
	v.every("what became of them", func(i engine.Instance) bool { return gone(i) && i.Asked })
	g.forgetDeserted()
}

// hostKilledUnderOwner leaves nobody but the owner to clean up, also what has
// no mark of ours.
func hostKilledUnderOwner(b *bench) {
	if b.o.Host == nil {
		b.Skip("this engine has no task host")
	}
	g := b.gang(2, append(slices.Clone(leaveAll), "touch="+b.path("$MUSTER_TASK"), "forever")...)
	if b.o.Memory { // so that there is a control group to be left behind
		for _, w := range g.wants {
			w.Launch.Memory = 1 << 30
		}
	}
	v, owner := g.ownElsewhere()
	b.await("the strays", func() bool { return slices.Equal(inFolder(b.work), []string{"worker-0", "worker-1"}) })
	g.killHost()
	v.every("lost tasks", func(i engine.Instance) bool { return i.State == engine.Lost && i.Cause == engine.ByLoss })
	for _, pid := range g.processes() {
		if line := commandLine(pid); line != "" && !strings.HasSuffix(line, " keep") { // which ends with its host, a moment later
			b.Errorf("the tasks are said to be lost, but %d is there: %s", pid, line)
		}
	}
	b.kill(owner)
	g.run.Fence = 2
	g.forgetDeserted()
}
