package servicetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

func submitted(b *bench) {
	r := b.submit(b.job("a", 1, gate))
	if r.ID == "" || r.Spec.Name != "a" || r.Created.IsZero() || r.Done() || r.Attached != b.o.Attached {
		b.Errorf("%+v", r)
	}
	if got := b.get(r.ID); got.ID != r.ID || got.Done() {
		b.Errorf("%s is %s", got.ID, got.Phase)
	}
	page, err := b.s.List(b.Context(), run.Query{Active: true})
	if err != nil || len(page.Runs) != 1 || page.Runs[0].ID != r.ID {
		b.Errorf("listed: %+v, %v", page, err)
	}
	b.open()
	b.end(r.ID, run.Succeeded, 0)
}

func refused(b *bench) {
	nameless, unknownRole := b.job("a", 1, "true"), b.job("a", 1, "true")
	nameless.Framework.Name = "torhc"
	unknownRole.Framework.Name = "torch"
	unknownRole.Roles["boss"] = &job.Role{Replicas: 1, Command: []string{"true"}}
	empty := job.Spec{Name: "a", Framework: job.Framework{Name: "plain"}}
	for what, spec := range map[string]job.Spec{"a framework": nameless, "a role": unknownRole, "no task": empty} {
		_, err := b.s.Submit(b.Context(), b.submission(spec))
		if k := problem.KindOf(err); err == nil || k != problem.Invalid && k != problem.Refused {
			b.Errorf("%s: %v", what, err)
		}
	}
	if page, err := b.s.List(b.Context(), run.Query{}); err != nil || len(page.Runs) != 0 {
		b.Errorf("kept: %+v, %v", page, err)
	}
}

func private(b *bench) {
	const first, second = "hush-hush-1", "hush-hush-22"
	s := b.submission(b.job("a", 1, "echo ${#INHERITED} ${#OWN}; "+gate))
	s.Env = append(s.Env, "INHERITED="+first)
	s.RoleEnv = map[string]map[string]string{"worker": {"OWN": second}}
	r, err := b.s.Submit(b.Context(), s)
	if err != nil {
		b.Fatal(err)
	}
	b.written(r.ID, "11 12\n")
	seen := []any{r, b.get(r.ID)}
	page, err := b.s.List(b.Context(), run.Query{})
	if err != nil {
		b.Fatal(err)
	}
	b.open()
	seen = append(seen, page, b.end(r.ID, run.Succeeded, 0))
	for _, v := range seen {
		text, err := json.Marshal(v)
		if err != nil || strings.Contains(string(text), "hush") {
			b.Errorf("%s, %v", text, err)
		}
	}
}

func bornSuspended(b *bench) {
	spec := b.job("a", 1, "echo began")
	spec.Suspend = true
	r := b.submit(spec)
	now := b.until(r.ID, "its suspension", func(r run.Run) bool { return r.Phase == run.Suspended })
	if now.Attempt != 0 || len(b.logs(r.ID, run.LogQuery{Tail: -1})) != 0 {
		b.Errorf("it has begun: %+v", now)
	}
	b.update(r.ID, run.Intent{Want: run.WantRun})
	if r = b.end(r.ID, run.Succeeded, 0); r.Attempt != 1 {
		b.Errorf("attempt %d", r.Attempt)
	}
}

func many(b *bench) {
	const n = 6
	ids := make([]string, n)
	for i := range ids {
		ids[i] = b.submit(b.job("a", 1, fmt.Sprintf("%s echo %d; exit %d", gate, i, i))).ID
	}
	if slices.Sort(ids); len(slices.Compact(slices.Clone(ids))) != n {
		b.Fatalf("ids %v", ids)
	}
	b.open()
	for _, id := range ids {
		r := b.until(id, "its end", func(r run.Run) bool { return r.Done() })
		out := b.logs(id, run.LogQuery{Tail: -1})["worker-0 stdout"]
		if want := strings.TrimSpace(out); want != fmt.Sprint(r.Verdict.Exit.Code) {
			b.Errorf("%s: code %d, but its task wrote %q", id, r.Verdict.Exit.Code, out)
		}
	}
}

func refs(b *bench) {
	first, second, other := b.submit(b.job("a", 1, gate)), b.submit(b.job("a", 1, gate)), b.submit(b.job("b", 1, gate))
	for ref, want := range map[string]string{first.ID: first.ID, second.ID: second.ID, "a": second.ID, "b": other.ID, "": other.ID} {
		if got := b.get(ref).ID; got != want {
			b.Errorf("%q is %s, want %s", ref, got, want)
		}
	}
	b.open()
	for _, r := range []run.Run{first, second, other} {
		b.end(r.ID, run.Succeeded, 0)
	}
	if got := b.get("a"); got.ID != second.ID || !got.Done() {
		b.Errorf("a is %s, %s", got.ID, got.Phase)
	}
}

func unknown(b *bench) {
	ctx := b.Context()
	for _, id := range []string{"no-such", "no-such-run-1234"} {
		_, err := b.s.Get(ctx, id)
		b.wantKind(err, problem.NotFound)
		b.wantKind(b.s.Watch(ctx, id, func(run.Run) error { return nil }), problem.NotFound)
		b.wantKind(b.s.Logs(ctx, id, run.LogQuery{}, func(run.LogChunk) error { return nil }), problem.NotFound)
		for _, want := range []run.Want{run.WantStop, run.WantRemove} {
			_, err = b.s.Update(ctx, id, run.Intent{Want: want})
			b.wantKind(err, problem.NotFound)
		}
	}
}

// all reads every page of a query.
func (b *bench) all(q run.Query) []string {
	b.Helper()
	ids := []string{}
	for {
		p, err := b.s.List(b.Context(), q)
		if err != nil {
			b.Fatal(err)
		}
		if q.Limit > 0 && len(p.Runs) > q.Limit {
			b.Fatalf("a page of %d has %d runs", q.Limit, len(p.Runs))
		}
		for _, r := range p.Runs {
			ids = append(ids, r.ID)
		}
		if p.Next == "" {
			return ids
		}
		q.After = p.Next
	}
}

func pages(b *bench) {
	var newest []string // first
	for i := range 5 {
		script := "true"
		if i%2 == 0 {
			script = gate
		}
		r := b.submit(b.job([]string{"a", "b", "c"}[i%3], 1, script))
		if script != gate {
			b.end(r.ID, run.Succeeded, 0)
		}
		newest = append([]string{r.ID}, newest...)
	}
	for _, c := range []struct {
		q    run.Query
		want []string
	}{
		{run.Query{}, newest},
		{run.Query{Limit: 1}, newest},
		{run.Query{Limit: 2}, newest},
		{run.Query{Limit: 5}, newest},
		{run.Query{Active: true, Limit: 1}, []string{newest[0], newest[2], newest[4]}},
		{run.Query{Name: "a"}, []string{newest[1], newest[4]}},
		{run.Query{Name: "b", Active: true}, []string{newest[0]}},
		{run.Query{Name: "nobody"}, []string{}},
	} {
		if got := b.all(c.q); !slices.Equal(got, c.want) {
			b.Errorf("%+v: %v, want %v", c.q, got, c.want)
		}
	}
	b.open()
	for _, id := range newest {
		b.end(id, run.Succeeded, 0)
	}
}

func watch(b *bench) {
	r := b.submit(b.job("a", 2, gate+"exit 3"))
	var phases []run.Phase
	var last run.Run
	err := b.s.Watch(b.Context(), r.ID, func(r run.Run) error {
		if r.Rev < last.Rev || last.Done() {
			b.Errorf("after %s (%d) comes %s (%d)", last.Phase, last.Rev, r.Phase, r.Rev)
		}
		if last = r; len(phases) == 0 || phases[len(phases)-1] != r.Phase {
			phases = append(phases, r.Phase)
		}
		if r.Phase == run.Running {
			b.open()
		}
		return nil
	})
	if err != nil || !slices.Contains(phases, run.Running) || last.Phase != run.Failed {
		b.Fatalf("%v, phases %v", err, phases)
	}
	if got := b.get(r.ID); got.Rev != last.Rev || got.Verdict.Headline != last.Verdict.Headline || got.Verdict.Exit.Code != 3 {
		b.Errorf("%+v, want %+v", got, last)
	}
}

func watchEnds(b *bench) {
	r := b.submit(b.job("a", 1, gate))
	own := errors.New("own")
	if err := b.s.Watch(b.Context(), r.ID, func(run.Run) error { return own }); !errors.Is(err, own) {
		b.Errorf("%v, want the caller's error", err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	err := b.s.Watch(ctx, r.ID, func(run.Run) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		b.Errorf("%v, want the context's error", err)
	}
	if _, err := b.s.Get(ctx, r.ID); !errors.Is(err, context.Canceled) {
		b.Errorf("%v, want the context's error", err)
	}
	b.open()
	b.end(r.ID, run.Succeeded, 0)
}

func watchEnded(b *bench) {
	r := b.submit(b.job("a", 1, "true"))
	b.end(r.ID, run.Succeeded, 0)
	calls := 0
	err := b.s.Watch(b.Context(), r.ID, func(r run.Run) error {
		if calls++; !r.Done() {
			b.Errorf("it is %s", r.Phase)
		}
		return nil
	})
	if err != nil || calls != 1 {
		b.Errorf("%d calls, %v", calls, err)
	}
}
