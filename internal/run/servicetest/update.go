package servicetest

import (
	"reflect"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

func stop(b *bench) {
	r := b.submit(b.job("a", 2, "sleep 1000"))
	b.running(r.ID)
	if got := b.update(r.ID, run.Intent{Want: run.WantStop, By: "the test"}); got.ID != r.ID || got.Intent.Want != run.WantStop {
		b.Errorf("%+v", got)
	}
	if got := b.get(r.ID); !got.Done() && got.Intent.Want != run.WantStop {
		b.Errorf("it is not stored: %+v", got.Intent)
	}
	if got := b.end(r.ID, run.Stopped, run.ExitStopped); got.Verdict.Headline != "stopped by the test" {
		b.Errorf("%q", got.Verdict.Headline)
	}
}

// stopStays has a run whose tasks take their time.
func stopStays(b *bench) {
	r := b.submit(b.job("a", 1, "trap '' TERM; echo ready; sleep 1000"))
	b.written(r.ID, "ready")
	b.update(r.ID, run.Intent{Want: run.WantStop, By: "the first"})
	for _, want := range []run.Want{run.WantRun, run.WantSuspend} {
		_, err := b.s.Update(b.Context(), r.ID, run.Intent{Want: want})
		b.wantKind(err, problem.Conflict)
	}
	b.update(r.ID, run.Intent{Want: run.WantStop, By: "the second", Force: true})
	if got := b.end(r.ID, run.Stopped, run.ExitStopped); got.Verdict.Headline != "stopped by the first" {
		b.Errorf("%q", got.Verdict.Headline)
	}
}

func suspend(b *bench) {
	r := b.submit(b.job("a", 1, "echo attempt $MUSTER_ATTEMPT; [ $MUSTER_ATTEMPT = 2 ] || sleep 1000"))
	b.running(r.ID)
	b.update(r.ID, run.Intent{Want: run.WantSuspend, By: "the test"})
	now := b.until(r.ID, "its suspension", func(r run.Run) bool { return r.Phase == run.Suspended })
	if now.Reason == "" {
		b.Error("it does not say why")
	}
	b.update(r.ID, run.Intent{Want: run.WantRun})
	if r = b.end(r.ID, run.Succeeded, 0); r.Attempt != 2 || r.Restarts != 0 {
		b.Errorf("attempt %d, %d restarts", r.Attempt, r.Restarts)
	}
}

func stopSuspended(b *bench) {
	r := b.submit(b.job("a", 1, "sleep 1000"))
	b.running(r.ID)
	b.update(r.ID, run.Intent{Want: run.WantSuspend})
	b.until(r.ID, "its suspension", func(r run.Run) bool { return r.Phase == run.Suspended })
	b.update(r.ID, run.Intent{Want: run.WantStop})
	b.end(r.ID, run.Stopped, run.ExitStopped)
}

func ended(b *bench) {
	r := b.submit(b.job("a", 1, "exit 4"))
	last := b.end(r.ID, run.Failed, 4)
	for _, want := range []run.Want{run.WantStop, run.WantSuspend, run.WantRun} {
		_, err := b.s.Update(b.Context(), r.ID, run.Intent{Want: want})
		b.wantKind(err, problem.Conflict)
	}
	if now := b.get(r.ID); now.Rev != last.Rev || !reflect.DeepEqual(now.Verdict, last.Verdict) || !reflect.DeepEqual(now.Intent, last.Intent) {
		b.Errorf("was %+v\nis  %+v", last, now)
	}
}

func remove(b *bench) {
	stays, goes := b.submit(b.job("a", 1, "echo 1; "+gate)), b.submit(b.job("a", 1, "echo 2"))
	b.end(goes.ID, run.Succeeded, 0)
	_, err := b.s.Update(b.Context(), stays.ID, run.Intent{Want: run.WantRemove})
	b.wantKind(err, problem.Conflict)
	b.await("its removal", func() bool { // its owner may have to put things away first
		_, err := b.s.Update(b.Context(), goes.ID, run.Intent{Want: run.WantRemove})
		if err != nil && problem.KindOf(err) != problem.Conflict {
			b.Fatal(err)
		}
		return err == nil
	})
	_, err = b.s.Get(b.Context(), goes.ID)
	b.wantKind(err, problem.NotFound)
	b.wantKind(b.s.Logs(b.Context(), goes.ID, run.LogQuery{Tail: -1}, func(run.LogChunk) error { return nil }), problem.NotFound)
	_, err = b.s.Update(b.Context(), goes.ID, run.Intent{Want: run.WantRemove})
	b.wantKind(err, problem.NotFound)
	if got := b.get("a"); got.ID != stays.ID || got.Done() {
		b.Errorf("%s is %s", got.ID, got.Phase)
	}
	b.open()
	b.end(stays.ID, run.Succeeded, 0)
	if out := b.logs(stays.ID, run.LogQuery{Tail: -1})["worker-0 stdout"]; out != "1\n" {
		b.Errorf("%q", out)
	}
}
