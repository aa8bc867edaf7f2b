package chaos

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// Check returns every promise that a history breaks, in words.
func Check(h History) []string {
	c := &checker{h: h}
	if len(h.Reads) == 0 {
		if h.Acknowledged {
			c.add("the run was acknowledged, and there is no record of it")
		}
		if len(h.Events) > 0 {
			c.add("tasks ran, and there is no record of them")
		}
		return append(c.found, h.Left...)
	}
	c.r = h.Reads[0]
	c.phases()
	c.attempts()
	c.starts()
	c.budget()
	c.verdict()
	c.outputs()
	return append(c.found, h.Left...)
}

type checker struct {
	h     History
	r     run.Run // as first read after the end
	found []string
}

func (c *checker) add(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

// phases: a terminal phase is reached and never changes, nor anything with it.
func (c *checker) phases() {
	if !c.r.Done() {
		c.add("the run has not ended: %s (%s)", c.r.Phase, c.r.Reason)
	}
	if c.r.Done() && c.r.Verdict == nil {
		c.add("%s without a verdict", c.r.Phase)
	}
	for _, again := range c.h.Reads[1:] {
		if again.Phase != c.r.Phase || again.Rev != c.r.Rev || again.Fence != c.r.Fence {
			c.add("the record changed after the end: %s rev %d fence %d became %s rev %d fence %d",
				c.r.Phase, c.r.Rev, c.r.Fence, again.Phase, again.Rev, again.Fence)
		}
	}
	for _, code := range c.h.Exits {
		if v := c.r.Verdict; v != nil && code != v.Exit.Code {
			c.add("muster run or wait gave %d, the verdict says %d", code, v.Exit.Code)
		}
	}
}

// attempts: everything that an attempt's tasks did was before anything that
// the next one's did.
func (c *checker) attempts() {
	last := map[int]time.Time{}
	for _, e := range c.h.Events {
		if e.Time.After(last[e.Attempt]) {
			last[e.Attempt] = e.Time
		}
		if e.Attempt > c.r.Attempt {
			c.add("%s ran in attempt %d, and the record knows of %d", e.Task, e.Attempt, c.r.Attempt)
		}
	}
	for _, e := range c.h.Events {
		for attempt, end := range last {
			if attempt < e.Attempt && !end.Before(e.Time) {
				c.add("attempt %d was alive at %s, and %s of attempt %d at %s", attempt, clock(end), e.Task, e.Attempt, clock(e.Time))
			}
		}
	}
	for i, o := range c.h.Outputs {
		if bytes.Contains(o.Stderr, []byte("is still alive beside attempt")) {
			c.add("%s found another attempt alive: %s", i, bytes.TrimSpace(o.Stderr))
		}
	}
}

func clock(t time.Time) string { return t.Format("05.000000") }

// starts: no instance was started twice, and none before all had a place.
func (c *checker) starts() {
	count := map[string]int{}
	for _, e := range c.h.Events {
		if e.Event == "start" {
			count[fmt.Sprintf("%s in attempt %d", e.Task, e.Attempt)]++
		}
	}
	for who, n := range count {
		if n > 1 {
			c.add("%s was started %d times", who, n)
		}
	}
}

// budget: there were no more attempts than the job allows. What a lost host
// costs is free.
func (c *checker) budget() {
	if c.r.Restarts > c.h.Plan.Budget {
		c.add("%d restarts were charged to a budget of %d", c.r.Restarts, c.h.Plan.Budget)
	}
	free := len(c.r.Failures) - c.r.Restarts
	if c.r.Attempt > 1+len(c.r.Failures) {
		c.add("%d attempts, and only %d failures between them", c.r.Attempt, len(c.r.Failures))
	}
	allowed := c.h.hits(Host, Keeper)
	if c.h.Plan.Framework == "mxnet" {
		allowed += 3 // taken ports
	}
	if free > allowed {
		c.add("%d free restarts, with %d hosts killed", free, c.h.hits(Host, Keeper))
	}
}

// ended says whether every task that decides had come to its end by then.
func (c *checker) ended(by time.Time) bool {
	for _, t := range c.r.Spec.Tasks() {
		if c.h.Plan.Framework == "mxnet" && t.Role != "worker" {
			continue
		}
		if !slices.ContainsFunc(c.h.events(t.String(), c.r.Attempt), func(e Event) bool { return e.Event == "end" && e.Time.Before(by) }) {
			return false
		}
	}
	return true
}

var farFuture = time.Unix(1<<40, 0)

// verdict: the run ended as what happened to it says, and what happened to its
// owner alone changes nothing.
func (c *checker) verdict() {
	p := c.h.Plan
	harmed := c.h.hits(Task, Host, Keeper) > 0 || p.Fails
	orphaned := !p.Detached && c.h.hits(Owner) > 0 || c.h.hits(Stop) > 0
	switch c.r.Phase {
	case run.Succeeded:
		if !c.ended(farFuture) {
			c.add("Succeeded, and not every deciding task of attempt %d came to its end", c.r.Attempt)
		}
	case run.Failed:
		if !harmed {
			c.add("Failed without a reason: %s", c.r.Reason)
		}
	case run.Stopped:
		if !orphaned {
			c.add("Stopped, and nobody asked for it: %s", c.r.Reason)
		}
	}
	if !harmed && !orphaned && c.r.Done() && (c.r.Phase != run.Succeeded || c.r.Attempt != 1) {
		c.add("nothing happened to host or tasks, and it ended %s in attempt %d: %s", c.r.Phase, c.r.Attempt, c.r.Reason)
	}
	if orphaned && !harmed && c.r.Done() && c.r.Phase != run.Stopped && !c.ended(c.stoppedAt()) {
		c.add("it was stopped, or its muster run killed, before the tasks had ended, and it is %s", c.r.Phase)
	}
}

// notice is how long after muster stop has said yes the tasks may still come to
// their end by themselves: the owner may be another process, or none yet.
const notice = 2 * time.Second

// stoppedAt is when the tasks must have been asked to end: at once when the
// command dies that the run was attached to.
func (c *checker) stoppedAt() time.Time {
	for _, a := range c.h.Acts {
		switch {
		case a.Hit && a.Target == Stop:
			return a.At.Add(notice)
		case a.Hit && a.Target == Owner && !c.h.Plan.Detached:
			return a.At
		}
	}
	return farFuture
}

var leftLine = regexp.MustCompile(`left [0-9]+\n`)

// outputs: what is kept is what was written, to the byte, and at least what a
// task had written when it said so.
func (c *checker) outputs() {
	for i, o := range c.h.Outputs {
		c.output(i, leftLine.ReplaceAll(o.Stdout, nil))
	}
	for _, e := range c.h.Events {
		task, err := job.ParseTask(e.Task)
		if err != nil {
			c.add("a trainer calls itself %q", e.Task)
			continue
		}
		if _, ok := c.h.Outputs[job.Instance{Task: task, Attempt: e.Attempt, Try: 1}]; !ok {
			c.add("%s ran in attempt %d, and nothing of its output is kept", e.Task, e.Attempt)
		}
	}
}

func (c *checker) output(i job.Instance, got []byte) {
	want, ends := c.h.Plan.expected(i)
	if !bytes.HasPrefix(want, got) {
		c.add("%s: its output of %d bytes is not what it wrote", i, len(got))
		return
	}
	least := 0
	for _, e := range c.h.events(i.Task.String(), i.Attempt) {
		if n, ok := strings.CutPrefix(e.Event, "w"); ok {
			var at int
			if _, err := fmt.Sscan(n, &at); err == nil && at >= 1 && at <= len(ends) {
				least = max(least, ends[at-1])
			}
		}
		if e.Event == "end" {
			least = len(want)
		}
	}
	if len(got) < least {
		c.add("%s: %d bytes are kept of %d that it had written", i, len(got), least)
	}
}
