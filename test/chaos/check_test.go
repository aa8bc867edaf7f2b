package chaos

import (
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

func worker(n, attempt int) job.Instance {
	return job.Instance{Task: job.Task{Role: "worker", Index: n}, Attempt: attempt, Try: 1}
}

func at(second int) time.Time { return time.Unix(int64(second), 0) }

// good is the history of a detached run of two workers whose host was killed
// in the first attempt, and that succeeded in the second.
func good() History {
	p := Plan{Name: "good", Framework: "plain", Workers: 2, Budget: 1, Detached: true, Isolation: "auto", Pieces: 2, Lines: 3, Rate: 10}
	r := run.Run{
		ID: "good-aaaa", Phase: run.Succeeded, Attempt: 2, Rev: 9, Fence: 3, Verdict: &run.Verdict{Phase: run.Succeeded},
		Failures: []run.Failure{{Attempt: 1, Class: run.NodeLost}},
		Spec:     job.Spec{Roles: map[string]*job.Role{"worker": {Replicas: 2}}},
	}
	h := History{Plan: p, Acknowledged: true, Reads: []run.Run{r, r}, Outputs: map[job.Instance]Output{}}
	h.Acts = []Act{{Target: Host, At: at(5), Hit: true}}
	for n := range 2 {
		name := worker(n, 1).Task.String()
		h.Events = append(h.Events, Event{Task: name, Attempt: 1, Event: "start", Time: at(1)}, Event{Task: name, Attempt: 1, Event: "w1", Time: at(2)})
		all, ends := p.expected(worker(n, 1))
		h.Outputs[worker(n, 1)] = Output{Stdout: all[:ends[0]+7]}
	}
	for n := range 2 {
		name := worker(n, 2).Task.String()
		for i, event := range []string{"start", "w1", "w2", "end"} {
			h.Events = append(h.Events, Event{Task: name, Attempt: 2, Event: event, Time: at(11 + i)})
		}
		all, _ := p.expected(worker(n, 2))
		h.Outputs[worker(n, 2)] = Output{Stdout: all}
	}
	return h
}

// broken is a good history with one thing wrong, and what must be said of it.
var broken = []struct {
	name  string
	spoil func(*History)
	want  string
}{
	{"an acknowledged run is lost", func(h *History) { h.Reads = nil }, "no record of it"},
	{"a run never ends", func(h *History) { h.Reads[0].Phase = run.Running }, "has not ended"},
	{"a run ends without a verdict", func(h *History) { h.Reads[0].Verdict = nil }, "without a verdict"},
	{"a terminal phase changes", func(h *History) { h.Reads[1].Phase = run.Failed }, "changed after the end"},
	{"a record changes after the end", func(h *History) { h.Reads[1].Rev++ }, "changed after the end"},
	{"wait gives another code", func(h *History) { h.Exits = []int{0, 3} }, "gave 3"},
	{"two attempts overlap", func(h *History) { h.Events[1].Time = at(12) }, "attempt 1 was alive"},
	{"a trainer found another attempt", func(h *History) {
		h.Outputs[worker(0, 2)] = Output{Stdout: h.Outputs[worker(0, 2)].Stdout, Stderr: []byte("attempt 1 of x is still alive beside attempt 2\n")}
	}, "found another attempt alive"},
	{"an attempt that is not on record", func(h *History) { h.Events[4].Attempt = 3 }, "the record knows of 2"},
	{"an instance is started twice", func(h *History) { h.Events = append(h.Events, h.Events[4]) }, "started 2 times"},
	{"the budget is exceeded", func(h *History) { h.Reads[0].Restarts, h.Reads[0].Failures = 2, make([]run.Failure, 2) }, "budget of 1"},
	{"an attempt without a failure before it", func(h *History) { h.Reads[0].Failures = nil }, "only 0 failures"},
	{"a free restart without a reason", func(h *History) { h.Acts[0].Hit = false }, "free restarts"},
	{"success without the end of a task", func(h *History) { h.Events = h.Events[:len(h.Events)-1] }, "came to its end"},
	{"failure without a reason", func(h *History) { h.Reads[0].Phase, h.Acts[0].Target = run.Failed, Owner }, "Failed without a reason"},
	{"a stop that nobody asked for", func(h *History) { h.Reads[0].Phase = run.Stopped }, "nobody asked"},
	{"the owner's death costs an attempt", func(h *History) { h.Acts[0].Target = Owner }, "nothing happened to host or tasks"},
	{"an orphan is not stopped", func(h *History) { h.Plan.Detached, h.Acts[0].Target = false, Owner }, "its muster run killed"},
	{"a stop is lost", func(h *History) { h.Acts[0].Target = Stop }, "it was stopped"},
	{"a byte is wrong", func(h *History) { h.Outputs[worker(1, 2)].Stdout[5]++ }, "is not what it wrote"},
	{"a byte is missing at the end", func(h *History) { shorten(h, worker(0, 2), 1) }, "bytes are kept of"},
	{"a written piece is missing", func(h *History) { shorten(h, worker(0, 1), 8) }, "bytes are kept of"},
	{"an output is missing", func(h *History) { delete(h.Outputs, worker(0, 1)) }, "nothing of its output"},
	{"something is left", func(h *History) { h.Left = []string{"port 4711"} }, "port 4711"},
}

func shorten(h *History, i job.Instance, n int) {
	o := h.Outputs[i]
	o.Stdout = o.Stdout[:len(o.Stdout)-n]
	h.Outputs[i] = o
}

// TestCheckFinds shows that the checker finds every kind of broken promise, and
// nothing where there is none.
func TestCheckFinds(t *testing.T) {
	h := good()
	if found := Check(h); len(found) > 0 {
		t.Fatalf("a good history: %q", found)
	}
	for _, c := range broken {
		t.Run(c.name, func(t *testing.T) {
			h := good()
			c.spoil(&h)
			if found := strings.Join(Check(h), "\n"); !strings.Contains(found, c.want) {
				t.Errorf("found %q, want something with %q", found, c.want)
			}
		})
	}
}
