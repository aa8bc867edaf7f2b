package report

import (
	"reflect"
	"testing"
	"time"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// queued is a run of workers that have gpus each.
func queued(id string, age time.Duration, workers, gpus int) run.Run {
	return run.Run{
		ID: id, Phase: run.Pending, Created: begun.Add(-age),
		Spec: job.Spec{Roles: map[string]*job.Role{"worker": {Replicas: workers, Resources: job.Resources{GPUs: gpus}}}},
	}
}

// granted is one that runs on what it was given.
func granted(id string, age time.Duration, g run.Grant) run.Run {
	r := queued(id, age, 1, 0)
	r.Phase, r.Started, r.Grant = run.Running, begun.Add(-age), &g
	return r
}

func TestQueue(t *testing.T) {
	first := granted("resnet-8d1a", 124*time.Minute, run.Grant{GPUs: map[string][]string{"worker-0": {"1"}}})
	second := granted("vgg-77aa", time.Hour, run.Grant{GPUs: map[string][]string{"worker-1": {"3"}, "worker-0": {"2"}}})
	slots := granted("cpu-1234", time.Minute, run.Grant{Slots: 2})
	me := queued("bert-2mzc", 192*time.Second, 2, 1)
	me.Reason = "1 of 2 GPUs free, it needs 2; in use by resnet-8d1a"
	me.Machine = &run.Machine{GPUs: []string{"0", "1"}}
	larger := me
	larger.Machine = &run.Machine{GPUs: []string{"0", "1", "2", "3"}}
	older := queued("older-aaaa", 200*time.Second, 2, 1)
	cpu := queued("cpuonly-aa", 300*time.Second, 1, 0)
	urgent := queued("urgent-aaaa", time.Second, 2, 1)
	urgent.Spec.Priority = 10
	young := queued("young-aaaa", time.Second, 1, 1)
	waitsForSlot := queued("one-aaaa", time.Second, 1, 0)
	waitsForSlot.Reason = "0 of 2 slots free, it needs 1; in use by cpu-1234"
	dependent := queued("late-aaaa", time.Second, 1, 0)
	dependent.Reason, dependent.Needs = "needs data", []run.Need{{Job: "data"}}
	waitsForSlot.Machine, dependent.Machine = &run.Machine{Slots: 2}, &run.Machine{Slots: 2}
	tests := []struct {
		name     string
		r        run.Run
		active   []run.Run
		headline string
		facts    []Fact
	}{
		{"one user and nobody ahead", me, []run.Run{first, me, young, cpu},
			"bert-2mzc has waited 3m12s for 2 GPUs: this machine has 2, and 1 is free",
			[]Fact{
				{Label: "in use", Lines: []string{"gpu 1 by resnet-8d1a (worker-0, running 2h04m)"}},
				{Label: "ahead", Lines: []string{"nobody"}},
				{Label: "starts", Lines: []string{"when resnet-8d1a ends; muster stop resnet-8d1a frees it now"}},
			}},
		{"several users, and some ahead", larger, []run.Run{second, first, larger, older, urgent},
			"bert-2mzc has waited 3m12s for 2 GPUs: this machine has 4, and 1 is free",
			[]Fact{
				{Label: "in use", Lines: []string{"gpu 1 by resnet-8d1a (worker-0, running 2h04m)", "gpu 2, 3 by vgg-77aa (worker-0 and worker-1, running 1h00m)"}},
				{Label: "ahead", Lines: []string{"urgent-aaaa and older-aaaa"}},
				{Label: "starts", Lines: []string{"when those ahead have started and enough is free"}},
			}},
		{"slots", waitsForSlot, []run.Run{slots, waitsForSlot},
			"one-aaaa has waited 1.0s for 1 slot: this machine has 2, and 0 are free",
			[]Fact{
				{Label: "in use", Lines: []string{"2 slots by cpu-1234 (running 1m00s)"}},
				{Label: "ahead", Lines: []string{"nobody"}},
				{Label: "starts", Lines: []string{"when cpu-1234 ends; muster stop cpu-1234 frees it now"}},
			}},
		{"something else", dependent, []run.Run{first, dependent}, "late-aaaa has waited 1.0s: needs data", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rep := Of(tt.r, nil, begun)
			rep.Queue(tt.r, tt.active, begun)
			if rep.Headline != tt.headline {
				t.Errorf("%q, want %q", rep.Headline, tt.headline)
			}
			if !reflect.DeepEqual(rep.Facts, tt.facts) {
				t.Errorf("%+v\nwant\n%+v", rep.Facts, tt.facts)
			}
		})
	}
}

func TestStarts(t *testing.T) {
	slots := func(id string, n int) run.Run { return granted(id, time.Minute, run.Grant{Slots: n}) }
	one := granted("one", time.Minute, run.Grant{Slots: 1, GPUs: map[string][]string{"worker-0": {"0"}}})
	tests := []struct {
		name    string
		workers int
		gpus    int
		of      int
		active  []run.Run
		want    string
	}{
		{"any of two", 1, 0, 2, []run.Run{slots("a", 1), slots("b", 1)}, "when any of them ends"},
		{"both", 2, 0, 2, []run.Run{slots("a", 1), slots("b", 1)}, "when a and b have ended"},
		{"both, with some free", 3, 0, 3, []run.Run{slots("a", 1), slots("b", 1)}, "when a and b have ended"},
		{"some of three", 2, 0, 3, []run.Run{slots("a", 1), slots("b", 1), slots("c", 1)}, "when 2 more slots are free"},
		{"one of them alone", 2, 0, 4, []run.Run{slots("a", 2), slots("b", 1), slots("c", 1)}, "when 2 more slots are free; the end of a would do"},
		{"two things at once", 1, 1, 1, []run.Run{one}, "when one ends; muster stop one frees it now"},
		{"another thing too", 1, 1, 2, []run.Run{one, slots("b", 2)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			me := queued("me", time.Second, tt.workers, tt.gpus)
			me.Machine = &run.Machine{Slots: tt.of, GPUs: []string{"0"}}
			rep := Of(me, nil, begun)
			rep.Queue(me, append(tt.active, me), begun)
			got := ""
			for _, f := range rep.Facts {
				if f.Label == "starts" {
					got = f.Lines[0]
				}
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
