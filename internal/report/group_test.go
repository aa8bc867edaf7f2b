package report

import (
	"reflect"
	"testing"
	"time"

	"muster.dev/muster/internal/run"
)

// inGroup is a job of a group that ended, if it has, after some seconds.
func inGroup(name string, p run.Phase, after int, reason string) run.Run {
	r := run.Run{ID: "g-" + name, Phase: p, Reason: reason, Group: &run.Group{ID: "g-aaaa", Job: name}}
	if r.Done() {
		r.Ended = begun.Add(time.Duration(after) * time.Second)
		r.Verdict = &run.Verdict{Phase: p, Exit: run.Exit{Code: after}}
	}
	return r
}

func skipped(name, reason string) run.Run {
	r := inGroup(name, run.Stopped, 0, reason)
	r.Verdict.Skipped = true
	return r
}

func TestGroup(t *testing.T) {
	data, late := inGroup("data", run.Succeeded, 1, ""), inGroup("late", run.Pending, 0, "needs fit")
	fit, other := inGroup("fit", run.Failed, 3, "worker-0 exited with code 3"), inGroup("other", run.Failed, 5, "worker-1 exited with code 5")
	stopped := inGroup("stopped", run.Stopped, 2, "stopped by muster stop")
	tests := []struct {
		name     string
		runs     []run.Run
		headline string
		tone     Tone
		deciding string
		facts    []Fact
	}{
		{"the first failure decides", []run.Run{data, other, fit, skipped("deploy", "needs fit, which failed"), stopped},
			"group g-aaaa Failed: fit failed: worker-0 exited with code 3", Bad, "fit", []Fact{
				{Label: "failed", Lines: []string{"other: worker-1 exited with code 5", "fit: worker-0 exited with code 3"}},
				{Label: "skipped", Lines: []string{"deploy: needs fit, which failed"}},
				{Label: "stopped", Lines: []string{"stopped: stopped by muster stop"}},
				{Label: "succeeded", Lines: []string{"data"}},
			}},
		{"a stop", []run.Run{data, stopped}, "group g-aaaa Stopped: stopped was stopped by muster stop", Bad, "stopped", []Fact{
			{Label: "stopped", Lines: []string{"stopped: stopped by muster stop"}},
			{Label: "succeeded", Lines: []string{"data"}},
		}},
		{"success", []run.Run{data, inGroup("fit", run.Succeeded, 2, "")}, "group g-aaaa Succeeded: all 2 jobs succeeded", Good, "", []Fact{
			{Label: "succeeded", Lines: []string{"data and fit"}},
		}},
		{"under way", []run.Run{data, inGroup("fit", run.Restarting, 0, "worker-0 failed"), inGroup("eval", run.Running, 0, ""), late, inGroup("next", run.Pending, 0, "")},
			"group g-aaaa is under way: 1 of 5 jobs have ended", Good, "", []Fact{
				{Label: "running", Lines: []string{"fit (restarting): worker-0 failed", "eval"}},
				{Label: "waiting", Lines: []string{"late: needs fit", "next: is about to start"}},
				{Label: "succeeded", Lines: []string{"data"}},
			}},
		{"under way after a failure", []run.Run{fit, inGroup("eval", run.Suspended, 0, "suspended by its job file")},
			"group g-aaaa is under way: 1 of 2 jobs have ended; fit failed", Watch, "fit", []Fact{
				{Label: "failed", Lines: []string{"fit: worker-0 exited with code 3"}},
				{Label: "suspended", Lines: []string{"eval: suspended by its job file"}},
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := OfGroup(tt.runs)
			if g.Headline != tt.headline || g.Tone != tt.tone {
				t.Errorf("%s %q, want %s %q", g.Tone, g.Headline, tt.tone, tt.headline)
			}
			if !reflect.DeepEqual(g.Facts, tt.facts) {
				t.Errorf("%+v\nwant\n%+v", g.Facts, tt.facts)
			}
			if r, _ := Deciding(tt.runs); r.ID != "" && r.Group.Job != tt.deciding || r.ID == "" && tt.deciding != "" {
				t.Errorf("%q decides, want %q", r.ID, tt.deciding)
			}
		})
	}
}
