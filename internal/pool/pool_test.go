package pool

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// pending is a run that waits: workers tasks with gpus GPUs each, submitted as
// the age-th.
func pending(id string, age, priority, workers, gpus int) *run.Run {
	return &run.Run{ID: id, Phase: run.Pending, Created: epoch.Add(time.Duration(age) * time.Second), Spec: job.Spec{
		Priority: priority,
		Roles:    map[string]*job.Role{"worker": {Replicas: workers, Resources: job.Resources{GPUs: gpus}}},
	}}
}

func granted(runs, _ []*run.Run) (ids []string) {
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestRound(t *testing.T) {
	two := Capacity{GPUs: []string{"0", "1"}}
	for _, c := range []struct {
		name    string
		have    Capacity
		runs    []*run.Run
		granted []string
		reasons map[string]string
	}{
		{"what needs nothing scarce starts at once", Capacity{}, []*run.Run{pending("a", 1, 0, 9, 0)}, []string{"a"}, nil},
		{"the oldest first", two, []*run.Run{pending("b", 2, 0, 1, 2), pending("a", 1, 0, 1, 2)}, []string{"a"},
			map[string]string{"b": "0 of 2 GPUs free, it needs 2; in use by a"}},
		{"priority before age", two, []*run.Run{pending("a", 1, 0, 1, 2), pending("b", 2, 10, 1, 2)}, []string{"b"}, nil},
		{"two fit side by side", two, []*run.Run{pending("a", 1, 0, 1, 1), pending("b", 2, 0, 1, 1)}, []string{"a", "b"}, nil},
		{"a small one does not overtake a large one for the same thing", two,
			[]*run.Run{pending("a", 1, 0, 1, 1), pending("b", 2, 0, 2, 1), pending("c", 3, 0, 1, 1)}, []string{"a"},
			map[string]string{"c": "1 of 2 GPUs free, it needs 1; in use by a; ahead of it b"}},
		{"one that wants other things does", two, []*run.Run{pending("a", 1, 0, 1, 2), pending("b", 2, 0, 1, 2), pending("c", 3, 0, 1, 0)}, []string{"a", "c"}, nil},
		{"slots are counted when configured", Capacity{Slots: 3}, []*run.Run{pending("a", 1, 0, 2, 0), pending("b", 2, 0, 2, 0)}, []string{"a"},
			map[string]string{"b": "1 of 3 slots free, it needs 2; in use by a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := granted(Round(c.have, c.runs)); !slices.Equal(got, c.granted) {
				t.Errorf("granted %v, want %v", got, c.granted)
			}
			for _, r := range c.runs {
				if want, ok := c.reasons[r.ID]; ok && r.Reason != want {
					t.Errorf("%s: reason %q, want %q", r.ID, r.Reason, want)
				}
			}
		})
	}
}

func TestGroups(t *testing.T) {
	of := func(id string, age int, needs ...string) *run.Run {
		r := pending(id, age, 0, 1, 0)
		r.Group = &run.Group{ID: "g", Job: id, MaxParallel: 2}
		for _, n := range needs {
			r.Needs = append(r.Needs, run.Need{Run: n, Job: n})
		}
		return r
	}
	runs := []*run.Run{of("a", 1, "x"), of("b", 2), of("c", 3), of("d", 4)}
	if got := granted(Round(Capacity{}, runs)); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("granted %v", got)
	}
	if runs[0].Reason != "needs x" || runs[3].Reason != "2 of its group run, max_parallel is 2" {
		t.Errorf("reasons %q, %q", runs[0].Reason, runs[3].Reason)
	}
}

func TestImpossible(t *testing.T) {
	if got := (Capacity{}).Impossible(Claim{GPUs: 2}); got != "it needs 2 GPUs, and this machine has 0" {
		t.Error(got)
	}
	if got := (Capacity{Slots: 2}).Impossible(Claim{Slots: 3}); got != "it has 3 tasks, and this machine has 2 slots" {
		t.Error(got)
	}
}

// TestNeverTwice: whatever comes and goes, no device and no slot has two users.
func TestNeverTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Capacity{Slots: rapid.IntRange(0, 6).Draw(t, "slots")}
		for i := range rapid.IntRange(0, 4).Draw(t, "gpus") {
			c.GPUs = append(c.GPUs, fmt.Sprint(i))
		}
		var active []*run.Run
		for n := range rapid.IntRange(1, 30).Draw(t, "steps") {
			if len(active) > 0 && rapid.Bool().Draw(t, "end") {
				i := rapid.IntRange(0, len(active)-1).Draw(t, "which")
				active = slices.Delete(active, i, i+1)
			} else {
				r := pending(fmt.Sprint("r", n), n, rapid.IntRange(-1, 1).Draw(t, "priority"), rapid.IntRange(1, 3).Draw(t, "workers"), rapid.IntRange(0, 2).Draw(t, "each"))
				if c.Impossible(ClaimOf(&r.Spec)) == "" {
					active = append(active, r)
				}
			}
			Round(c, active)
			check(t, c, active)
		}
	})
}

func check(t *rapid.T, c Capacity, active []*run.Run) {
	used, slots, waiting := map[string]string{}, 0, 0
	for _, r := range active {
		if r.Grant == nil {
			waiting++
			if r.Reason == "" {
				t.Fatalf("%s waits and does not say why", r.ID)
			}
			continue
		}
		slots += r.Grant.Slots
		for task, devices := range r.Grant.GPUs {
			for _, d := range devices {
				if other := used[d]; other != "" {
					t.Fatalf("gpu %s is given to %s and to %s/%s", d, other, r.ID, task)
				}
				used[d] = r.ID + "/" + task
			}
		}
	}
	if c.Slots > 0 && slots > c.Slots {
		t.Fatalf("%d of %d slots are given", slots, c.Slots)
	}
	if waiting > 0 && len(used) == 0 && slots == 0 {
		t.Fatal("nothing is in use, and yet somebody waits")
	}
}
