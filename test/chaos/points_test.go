//go:build linux

package chaos

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/run"
)

// plainPlan is a job that takes about 0.3 s.
func plainPlan(name string) Plan {
	return Plan{Name: name, Framework: "plain", Workers: 3, Budget: 1, Detached: true, Isolation: "auto", Pieces: 3, Lines: 4, Rate: 50}
}

// checkRound carries a round out and reports what is wrong with it.
func checkRound(t *testing.T, r *round) History {
	t.Helper()
	h, err := r.run()
	if err != nil {
		t.Fatalf("%v\n%s", err, r.story())
	}
	for _, wrong := range Check(h) {
		t.Error(wrong)
	}
	if t.Failed() {
		t.Log(r.story())
	}
	return h
}

// reachable says whether a run of that kind comes to a point at all.
func reachable(point string, detached bool, isolation string) bool {
	part, rest, _ := strings.Cut(point, ".")
	switch {
	case part == "keeper":
		return detached && isolation == "auto"
	case part == "own":
		return detached // an attached run owns itself
	case rest == "summoning", rest == "before-sweep", part == "remove":
		return false // only after something else; they have their own tests
	}
	return true
}

// visits is how often a point is passed in a run of three tasks, as far as it
// matters which time it is.
var visits = map[string]int{
	"owner.before-save": 5, "owner.after-save": 5, "owner.after-apply": 2,
	"host.start-journaled": 3, "host.spawned": 3, "host.exit-seen": 3, "host.exit-journaled": 3, "host.teardown": 3,
}

// TestEveryCrashPoint kills whoever comes to each point, each time that one
// does, in every kind of run.
func TestEveryCrashPoint(t *testing.T) {
	for _, point := range crash.Points {
		for visit := range max(visits[point], 1) {
			for _, isolation := range []string{"auto", "none"} {
				for _, detached := range []bool{true, false} {
					if reachable(point, detached, isolation) {
						testPoint(t, fmt.Sprintf("%s*%d", point, visit+1), isolation, detached)
					}
				}
			}
		}
	}
}

var dotsAndStars = strings.NewReplacer(".", "-", "*", "-")

func testPoint(t *testing.T, point, isolation string, detached bool) {
	name := fmt.Sprintf("%s-%s", dotsAndStars.Replace(point), isolation)
	if detached {
		name += "-d"
	}
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		// A bed of its own: commands of others would look after this run, too.
		b, p := testBed(t), plainPlan(name)
		p.Isolation, p.Detached = isolation, detached
		r := &round{bed: b, plan: p, point: point, crasher: victim(point, p), fired: filepath.Join(b.dir, name+".fired")}
		checkRound(t, r)
		if !exists(r.fired) {
			t.Errorf("nobody came to %s", point)
		}
	})
}

// TestSummoningHostDies kills the host of a run whose owner has been killed, at
// the moment when it would ask for a new one.
func TestSummoningHostDies(t *testing.T) {
	for _, isolation := range []string{"auto", "none"} {
		t.Run(isolation, func(t *testing.T) {
			b := testBed(t)
			p := plainPlan("summon")
			p.Isolation, p.Rate = isolation, 20
			r := &round{bed: b, plan: p, point: "host.summoning", crasher: Host, fired: filepath.Join(b.dir, "fired")}
			r.killWhenRunning(Owner)
			h := checkRound(t, r)
			if !exists(r.fired) || h.hits(Owner) == 0 {
				t.Errorf("the host did not die as it should: %+v", h.Acts)
			}
		})
	}
}

// TestSweepingOwnerDies kills an owner at the moment when it would put away
// what a killed host has left.
func TestSweepingOwnerDies(t *testing.T) {
	for _, isolation := range []string{"auto", "none"} {
		t.Run(isolation, func(t *testing.T) {
			b := testBed(t)
			p := plainPlan("sweep")
			p.Isolation, p.Rate, p.Leaves, p.Memory = isolation, 20, "setsid", true
			r := &round{bed: b, plan: p, point: "local.before-sweep", crasher: Owner, fired: filepath.Join(b.dir, "fired")}
			r.killWhenRunning(Host)
			h := checkRound(t, r)
			if !exists(r.fired) || h.hits(Host) == 0 {
				t.Errorf("the owner did not die as it should: %+v", h.Acts)
			}
		})
	}
}

// TestInterruptedRemoval kills muster rm when the folder is gone and the
// record is not: what is left can be removed again.
func TestInterruptedRemoval(t *testing.T) {
	b := testBed(t)
	r := &round{bed: b, plan: plainPlan("gone")}
	checkRound(t, r)
	cmd := b.command(t.Context(), "rm", r.id)
	cmd.Env = append(cmd.Env, crash.Variable+"=remove.before-delete")
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("muster rm lived: %s", out)
	}
	if exists(b.runDir(r.id)) {
		t.Fatal("the folder is still there")
	}
	for _, args := range [][]string{{"ps"}, {"get", r.id}, {"logs", r.id}, {"rm", r.id}} {
		if code, out, err := b.muster(args...); err != nil || code != 0 {
			t.Errorf("muster %v: exit %d, %v: %s", args, code, err, out)
		}
	}
	if _, found, err := b.read(r.id); err != nil || found {
		t.Errorf("the record is still there (%v)", err)
	}
}

// TestStopSurvives kills the owner right after muster stop has said yes: the
// next one stops the run.
func TestStopSurvives(t *testing.T) {
	for _, isolation := range []string{"auto", "none"} {
		t.Run(isolation, func(t *testing.T) {
			b := testBed(t)
			p := plainPlan("stop")
			p.Isolation, p.Lines, p.Rate, p.Pieces = isolation, 1, 4, 400
			r := &round{bed: b, plan: p}
			r.killWhenRunning(Stop, Owner)
			h := checkRound(t, r)
			if h.hits(Stop) == 0 || h.hits(Owner) == 0 || h.Reads[0].Phase != run.Stopped {
				t.Errorf("want it stopped\n%s", r.story())
			}
		})
	}
}

// TestEverythingDies kills owner, keeper and host of a detached run together:
// the next muster command brings it to its end.
func TestEverythingDies(t *testing.T) {
	for _, isolation := range []string{"auto", "none"} {
		t.Run(isolation, func(t *testing.T) {
			b := testBed(t)
			p := plainPlan("all")
			p.Isolation, p.Rate, p.Leaves = isolation, 20, "setsid"
			r := &round{bed: b, plan: p}
			r.killWhenRunning(Keeper, Owner, Host)
			h := checkRound(t, r)
			if len(h.Reads) == 0 || h.Reads[0].Phase != run.Succeeded || h.Reads[0].Attempt != 2 {
				t.Errorf("want success in attempt 2\n%s", r.story())
			}
		})
	}
}
