package supervisor

import (
	"time"

	"pgregory.net/rapid"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

func drawSpec(t *rapid.T) job.Spec {
	few := rapid.IntRange(1, 3)
	var s job.Spec
	switch rapid.SampledFrom([]string{"plain", "mxnet", "torch"}).Draw(t, "framework") {
	case "mxnet":
		s = spec("mxnet", map[string]int{"scheduler": 1, "server": few.Draw(t, "servers"), "worker": few.Draw(t, "workers")})
	case "torch":
		s = torch(few.Draw(t, "workers"))
		s.Framework.Inferred = rapid.Bool().Draw(t, "inferred")
	default:
		s = spec("plain", map[string]int{"ps": rapid.IntRange(0, 2).Draw(t, "ps"), "worker": few.Draw(t, "workers")})
	}
	s.Success = rapid.SampledFrom([]string{"", "", "all", "any", "worker", "ps", "scheduler", "none"}).Draw(t, "success")
	s.Restart = job.Restart{
		Limit: rapid.SampledFrom([]int{0, 0, 1, 2, 4}).Draw(t, "limit"),
		Scope: rapid.SampledFrom([]string{"", "job", "role", "task"}).Draw(t, "scope"),
		When:  rapid.SampledFrom([]string{"", "failure", "retryable"}).Draw(t, "when"),
	}
	seconds := func(name string) job.Duration {
		return job.Duration(rapid.SampledFrom([]time.Duration{0, 0, time.Second, time.Minute}).Draw(t, name))
	}
	s.Restart.Backoff = seconds("backoff")
	s.Limits = job.Limits{Run: seconds("run"), Queue: seconds("queue"), Rendezvous: seconds("rendezvous"), Stall: seconds("stall")}
	return s
}

func drawElapsed(t *rapid.T, wake time.Duration) time.Duration {
	choices := []time.Duration{0, time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second, time.Minute, time.Hour, max(wake, 0), max(wake-1, 0)}
	return rapid.SampledFrom(choices).Draw(t, "elapsed")
}

func drawDeath(t *rapid.T) death {
	deaths := map[string]death{
		"well": exit(0), "1": exit(1), "138": exit(138), "KILL": signal("KILL"), "ABRT": signal("ABRT"), "TERM": signal("TERM"), "oom": oom,
		"raised": raised(time.Second, false), "hung": raised(2*time.Second, true), "port": portTakenExit, "lost": lost,
		"start": func(i *engine.Instance) { i.Cause, i.Code, i.Detail = engine.StartFailed, 127, "not found" },
		"evict": func(i *engine.Instance) { i.Cause = engine.ByEvict },
		"ill":   func(i *engine.Instance) { i.Cause = engine.ByHealth },
		"logs":  func(i *engine.Instance) { i.Cause = engine.ByLogLimit },
	}
	return deaths[rapid.SampledFrom([]string{
		"well", "well", "well", "1", "138", "KILL", "ABRT", "TERM", "oom", "raised", "hung", "port", "port", "port", "lost", "start", "evict", "logs",
	}).Draw(t, "death")]
}

func (w *world) obeyAll() {
	for len(w.orders) > 0 {
		w.obey()
	}
}

func (w *world) placeAll() {
	for _, i := range w.moving() {
		w.place(i)
	}
}

func (w *world) placeOne(t *rapid.T) {
	if all := w.moving(); len(all) > 0 {
		w.place(rapid.SampledFrom(all).Draw(t, "place"))
	}
}

func (w *world) moveOne(t *rapid.T) {
	if all := w.live(); len(all) > 0 {
		i := rapid.SampledFrom(all).Draw(t, "instance")
		i.Usage.Silent = rapid.SampledFrom([]time.Duration{0, time.Second, time.Hour}).Draw(t, "silent")
		die := w.usual
		if rapid.Bool().Draw(t, "unusual") {
			die = drawDeath(t)
		}
		w.move(i, rapid.Bool().Draw(t, "joins"), die)
	}
}

// goOn lets everything happen that is on its way, but no task end by itself.
func (w *world) goOn(t *rapid.T) {
	w.obeyAll()
	if places := rapid.IntRange(0, 3).Draw(t, "places"); places > 0 {
		w.placeAll()
	}
	for _, i := range w.live() {
		if i.State != engine.Running {
			w.move(i, true, signal("TERM"))
		}
	}
	w.hearAll()
	w.decide(t, rapid.SampledFrom([]time.Duration{0, time.Millisecond, max(w.wake, 0), max(w.wake-1, 0)}).Draw(t, "elapsed"))
}

// hear gives the owner some of the news; those in between are merged.
func (w *world) hear(t *rapid.T) {
	if len(w.news) == 0 {
		return
	}
	n := rapid.IntRange(1, len(w.news)).Draw(t, "news")
	w.seen, w.news = w.news[n-1], w.news[n:]
}

func (w *world) hearAll() {
	if n := len(w.news); n > 0 {
		w.seen, w.news = w.news[n-1], nil
	}
}

// grant gives a run what it needs, until it is suspended.
func (w *world) grant() { w.r.Grant = &run.Grant{} }

// intend wants something, as far as a service lets a person: a stop is final.
func (w *world) intend(t *rapid.T) {
	want := rapid.SampledFrom([]run.Want{run.WantSuspend, run.WantSuspend, run.WantRun, run.WantRun, run.WantStop}).Draw(t, "want")
	if w.r.Done() || w.r.Intent.Want == run.WantStop && want != run.WantStop {
		return
	}
	w.r.Intent = run.Intent{Want: want, By: "somebody", Force: w.r.Intent.Force || rapid.Bool().Draw(t, "force")}
}

// crash is the end of an owner; the next one has only what is stored.
func (w *world) crash(t *rapid.T) {
	w.newOwner(rapid.IntRange(0, len(w.orders)).Draw(t, "arrived"))
	w.r.Fence++
	w.seen = engine.Observed{}
}

// unsync is an engine that has not heard from all of its hosts.
func (w *world) unsync(t *rapid.T) {
	part := w.snapshot()
	part.Synced = false
	part.Instances = part.Instances[:rapid.IntRange(0, len(part.Instances)).Draw(t, "known")]
	w.seen = part
	w.news = append(w.news, w.snapshot())
}

func (w *world) fault(t *rapid.T) {
	switch rapid.SampledFrom([]string{"host", "forget", "amnesia", "disk", "place"}).Draw(t, "fault") {
	case "host":
		w.killHost()
	case "forget":
		w.forget(w.r.Tasks)
	case "amnesia":
		w.amnesia()
	case "disk":
		full := w.snapshot()
		full.Trouble = "the disk is full"
		w.news = append(w.news, full)
	case "place":
		for _, i := range w.live() {
			if i.State == engine.Holding {
				w.end(i, func(i *engine.Instance) { i.Cause, i.Code, i.Detail = engine.StartFailed, 125, "no port is free" })
				return
			}
		}
	}
}

// comesToAnEnd lets the engine obey from now on, tasks end, and time pass only
// as far as the supervisor asks: no run may wait for something that never comes.
func (w *world) comesToAnEnd(t *rapid.T) {
	w.news = append(w.news, w.snapshot())
	elapsed := time.Duration(0)
	for range 1000 {
		w.hearAll()
		w.decide(t, elapsed)
		w.check(t)
		if w.r.Done() || w.r.Phase == run.Suspended && w.r.Intent.Want == run.WantSuspend {
			return
		}
		before := snapshotOf(t, w.snapshot())
		waits := w.r.Grant == nil
		w.grant()
		w.obeyAll()
		w.placeAll()
		for _, i := range w.live() {
			if i.State != engine.Holding {
				w.move(i, true, exit(rapid.IntRange(0, 1).Draw(t, "code")))
			}
		}
		elapsed = 0
		if snapshotOf(t, w.snapshot()) == before {
			elapsed = w.wake
		}
		if snapshotOf(t, w.snapshot()) == before && w.wake == 0 && !waits {
			t.Fatalf("%s waits for nothing: %+v\nseen: %+v", w.r.Phase, w.r.Progress, w.seen)
		}
	}
	t.Fatalf("no end in sight: %s, attempt %d, %+v", w.r.Phase, w.r.Attempt, w.r.Progress)
}
