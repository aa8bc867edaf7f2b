package servicetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

func logTasks(b *bench) {
	r := b.submit(b.job("a", 3, "echo $MUSTER_TASK; echo oops >&2"))
	b.end(r.ID, run.Succeeded, 0)
	for _, c := range []struct {
		tasks []string
		want  []string
	}{
		{nil, []string{"worker-0", "worker-1", "worker-2"}},
		{[]string{"worker-1"}, []string{"worker-1"}},
		{[]string{"worker-[02]"}, []string{"worker-0", "worker-2"}},
		{[]string{"worker-0", "worker-*"}, []string{"worker-0", "worker-1", "worker-2"}},
	} {
		got := b.logs(r.ID, run.LogQuery{Tasks: c.tasks, Tail: -1})
		for _, task := range c.want {
			if got[task+" stdout"] != task+"\n" || got[task+" stderr"] != "oops\n" {
				b.Errorf("%v: %q", c.tasks, got)
			}
		}
		if len(got) != 2*len(c.want) {
			b.Errorf("%v: %q", c.tasks, got)
		}
	}
	for pattern, kind := range map[string]problem.Kind{"worker-7": problem.NotFound, "[": problem.Invalid} {
		err := b.s.Logs(b.Context(), r.ID, run.LogQuery{Tasks: []string{pattern}}, func(run.LogChunk) error { return nil })
		b.wantKind(err, kind)
	}
}

func logTail(b *bench) {
	r := b.submit(b.job("a", 2, "seq 1 1000; printf end"))
	b.end(r.ID, run.Succeeded, 0)
	for tail, want := range map[int]string{0: "", 1: "end", 3: "999\n1000\nend"} {
		for _, task := range []string{"worker-0", "worker-1"} {
			if got := b.logs(r.ID, run.LogQuery{Tail: tail})[task+" stdout"]; got != want {
				b.Errorf("the last %d lines of %s: %q", tail, task, got)
			}
		}
	}
	got := b.logs(r.ID, run.LogQuery{Tail: -1})["worker-1 stdout"]
	if strings.Count(got, "\n") != 1000 || b.logs(r.ID, run.LogQuery{Tail: 5000})["worker-1 stdout"] != got {
		b.Errorf("all of it has %d lines", strings.Count(got, "\n"))
	}
}

// A line that is too long to be held comes in pieces, and whole.
func logLongLine(b *bench) {
	const size, most = 8 << 20, 4 << 20
	r := b.submit(b.job("a", 1, fmt.Sprintf("head -c %d /dev/zero; echo; echo end", size)))
	b.end(r.ID, run.Succeeded, 0)
	want := strings.Repeat("\x00", size) + "\nend\n"
	for _, follow := range []bool{false, true} {
		var got strings.Builder
		err := b.s.Logs(b.Context(), r.ID, run.LogQuery{Tail: -1, Follow: follow}, func(c run.LogChunk) error {
			if len(c.Data) > most {
				b.Errorf("a piece of %d bytes", len(c.Data))
			}
			got.Write(c.Data)
			return nil
		})
		if err != nil || got.String() != want {
			b.Errorf("%d bytes, %v", got.Len(), err)
		}
	}
}

func logAttempts(b *bench) {
	spec := b.job("a", 1, "echo try $MUSTER_ATTEMPT; [ $MUSTER_ATTEMPT = 2 ]")
	spec.Restart.Limit = 1
	r := b.submit(spec)
	b.end(r.ID, run.Succeeded, 0)
	for attempt, want := range map[int]string{0: "try 2\n", 1: "try 1\n", 2: "try 2\n", 3: ""} {
		if got := b.logs(r.ID, run.LogQuery{Attempt: attempt, Tail: -1})["worker-0 stdout"]; got != want {
			b.Errorf("attempt %d wrote %q, want %q", attempt, got, want)
		}
	}
}

func logSince(b *bench) {
	r := b.submit(b.job("a", 1, "echo old; "+gate+"echo new"))
	var since time.Time
	b.await("a date", func() bool {
		_ = b.s.Logs(b.Context(), r.ID, run.LogQuery{Tail: -1}, func(c run.LogChunk) error { since = c.Time; return nil })
		return !since.IsZero()
	})
	b.open()
	b.end(r.ID, run.Succeeded, 0)
	if got := b.logs(r.ID, run.LogQuery{Tail: -1, Since: since.Add(1)})["worker-0 stdout"]; got != "new\n" {
		b.Errorf("since then: %q", got)
	}
	if got := b.logs(r.ID, run.LogQuery{Tail: -1, Since: since})["worker-0 stdout"]; got != "old\nnew\n" {
		b.Errorf("from then on: %q", got)
	}
}

// logFollow has one reader from the beginning and one of the last line on, both
// of which have begun when the tasks go on.
func logFollow(b *bench) {
	r := b.submit(b.job("a", 2, "seq 1 500; "+gate+"seq 501 2000; echo oops >&2; printf end"))
	b.await("the first lines", func() bool {
		out := b.logs(r.ID, run.LogQuery{Tail: 1})
		return out["worker-0 stdout"] == "500\n" && out["worker-1 stdout"] == "500\n"
	})
	whole, late := b.follow(r.ID, -1), b.follow(r.ID, 1)
	<-whole.begun
	<-late.begun
	b.open()
	b.end(r.ID, run.Succeeded, 0)
	<-whole.ended
	<-late.ended
	again := b.logs(r.ID, run.LogQuery{Tail: -1})
	for _, task := range []string{"worker-0", "worker-1"} {
		out, tail := again[task+" stdout"], late.out[task+" stdout"]
		if whole.out[task+" stdout"] != out || whole.out[task+" stderr"] != "oops\n" || !strings.HasSuffix(out, "\n2000\nend") {
			b.Errorf("%s: followed %d bytes, read %d", task, len(whole.out[task+" stdout"]), len(out))
		}
		if !strings.HasSuffix(out, tail) || !strings.HasPrefix(tail, "500\n501\n") {
			b.Errorf("%s: from the last line on: %.20q", task, tail)
		}
	}
}

// A reader follows the output of a run.
type reader struct {
	begun, ended chan struct{}
	out          map[string]string // once it has ended
}

func (b *bench) follow(id string, tail int) *reader {
	f := &reader{begun: make(chan struct{}), ended: make(chan struct{}), out: map[string]string{}}
	go func() {
		defer close(f.ended)
		err := b.s.Logs(b.Context(), id, run.LogQuery{Tail: tail, Follow: true}, func(c run.LogChunk) error {
			if len(f.out) == 0 {
				close(f.begun)
			}
			f.out[c.Instance.Task.String()+" "+string(c.Stream)] += string(c.Data)
			return nil
		})
		if err != nil {
			b.Error(err)
		}
	}()
	return f
}

func logEnds(b *bench) {
	r := b.submit(b.job("a", 1, "echo one; "+gate))
	b.written(r.ID, "one")
	own := errors.New("own")
	for _, follow := range []bool{false, true} {
		err := b.s.Logs(b.Context(), r.ID, run.LogQuery{Tail: -1, Follow: follow}, func(run.LogChunk) error { return own })
		if !errors.Is(err, own) {
			b.Errorf("%v, want the caller's error", err)
		}
	}
	ctx, cancel := context.WithCancel(b.Context())
	err := b.s.Logs(ctx, r.ID, run.LogQuery{Tail: -1, Follow: true}, func(run.LogChunk) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		b.Errorf("%v, want the context's error", err)
	}
	b.open()
	b.end(r.ID, run.Succeeded, 0)
}
