package supervisor

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// A world is a run, its owner and its engine, at the mercy of chance.
type world struct {
	*model
	r       run.Run // as stored: an owner that dies loses nothing else
	seen    engine.Observed
	resumes int
	usual   death // what tasks of this world mostly die of
	wake    time.Duration
}

// TestMain looks harder than rapid does by itself, unless told how hard.
func TestMain(m *testing.M) {
	flag.Parse()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": "500", "rapid.nofailfile": "true"} {
		if !given[name] {
			_ = flag.Set(name, value)
		}
	}
	os.Exit(m.Run())
}

func TestWhatNeverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{model: newModel(), seen: engine.Observed{Synced: true}}
		w.usual = drawDeath(t)
		w.r = run.Run{ID: "r-1", Spec: drawSpec(t), Phase: run.Pending, Fence: 1, Created: epoch}
		if rapid.Bool().Draw(t, "at once") {
			w.grant()
		}
		t.Repeat(map[string]func(*rapid.T){
			"":        w.check,
			"step":    w.step,
			"obey":    func(*rapid.T) { w.obey() },
			"place":   w.placeOne,
			"move":    w.moveOne,
			"hear":    w.hear,
			"go on":   w.goOn, // thrice: without it little is reached
			"and on":  w.goOn,
			"further": w.goOn,
			"grant":   func(*rapid.T) { w.grant() },
			"intent":  w.intend,
			"crash":   w.crash,
			"unsync":  w.unsync,
			"fault":   w.fault,
		})
		w.comesToAnEnd(t)
	})
}

// step lets some time pass and the owner decide.
func (w *world) step(t *rapid.T) { w.decide(t, drawElapsed(t, w.wake)) }

// decide lets the owner decide, store and order, and checks that it may.
func (w *world) decide(t *rapid.T, elapsed time.Duration) {
	w.now = w.now.Add(elapsed)
	tick := Tick{Elapsed: elapsed, Now: w.now}
	before, seenBefore := snapshotOf(t, w.r), snapshotOf(t, w.seen)
	d := Next(w.r, w.seen, tick)
	if again := Next(w.r, w.seen, tick); !reflect.DeepEqual(d, again) {
		t.Fatalf("the same arguments gave\n%+v\nand\n%+v", d, again)
	}
	if snapshotOf(t, w.r) != before || snapshotOf(t, w.seen) != seenBefore {
		t.Fatalf("the arguments were changed")
	}
	w.checkUnsynced(t, d)
	w.checkTerminal(t, d)
	w.checkWants(t, d)
	w.checkBudget(t, d)
	if w.r.Phase == run.Pending && w.r.Grant == nil && d.Run.Phase == run.Starting {
		t.Fatalf("it starts without what it needs")
	}
	w.count(d.Run)
	w.r, w.wake = stored(t, d.Run), d.Wake
	if w.r.Phase == run.Suspended {
		w.r.Grant = nil // others may use it meanwhile
	}
	if d.Want != nil && !d.Run.Done() {
		w.orders = append(w.orders, *d.Want)
	}
}

// check holds between any two steps.
func (w *world) check(t *rapid.T) {
	if w.r.Restarts > w.r.Spec.Restart.Limit {
		t.Fatalf("%d restarts with a limit of %d", w.r.Restarts, w.r.Spec.Restart.Limit)
	}
	attempts := map[int]bool{}
	for _, i := range w.processes() {
		attempts[i.Attempt] = true
	}
	if len(attempts) > 1 {
		t.Fatalf("processes of several attempts are alive: %v", attempts)
	}
}

func (w *world) checkUnsynced(t *rapid.T, d Decision) {
	if w.seen.Synced || w.r.Done() {
		return
	}
	same := d.Run
	same.Progress.Clock = w.r.Progress.Clock
	if d.Want != nil || !reflect.DeepEqual(same, w.r) {
		t.Fatalf("an unsynced observation changed\n%+v\ninto\n%+v\nand wants %+v", w.r, d.Run, d.Want)
	}
}

func (w *world) checkTerminal(t *rapid.T, d Decision) {
	if w.r.Done() {
		if !reflect.DeepEqual(d.Run, w.r) || len(d.Want.Tasks) > 0 || d.Wake != 0 {
			t.Fatalf("a run that had ended changed to %+v", d)
		}
		return
	}
	if !d.Run.Done() {
		return
	}
	if p := w.processes(); len(p) > 0 {
		t.Fatalf("%s was reached while %s was %s", d.Run.Phase, p[0].Instance, p[0].State)
	}
	v := d.Run.Verdict
	bad := d.Run.Phase != run.Succeeded
	if v == nil || v.Headline == "" || v.Phase != d.Run.Phase || bad != (v.Exit.Code != 0) || v.Exit.By == "" {
		t.Fatalf("%s has the verdict %+v", d.Run.Phase, v)
	}
	if bad && d.Run.Reason == "" || d.Run.Phase == run.Failed && (v.First == nil || v.First.Class == "") {
		t.Fatalf("%s gives no reason: %+v", d.Run.Phase, v)
	}
}

// checkWants holds what may be asked of an engine.
func (w *world) checkWants(t *rapid.T, d Decision) {
	if d.Want == nil {
		return
	}
	begun := map[job.Instance]bool{}
	for _, i := range w.r.Tasks {
		begun[i.Instance] = i.State != engine.Holding
	}
	for _, want := range d.Want.Tasks {
		if want.State == engine.Stopped {
			continue
		}
		if want.State == engine.Held && begun[want.Instance] {
			t.Fatalf("%s had begun, and is to be held again", want.Instance)
		}
		w.checkAlone(t, want)
		if want.State == engine.Launched {
			w.checkGang(t, d, want.Instance)
		}
	}
}

// checkAlone holds that no two attempts are alive together.
func (w *world) checkAlone(t *rapid.T, want engine.Want) {
	for _, i := range append(w.processes(), pointers(w.seen.Instances)...) {
		harmless := i.State.Gone() || i.State == engine.Holding && want.State == engine.Held
		if i.Attempt < want.Instance.Attempt && !harmless {
			t.Fatalf("%s is wanted while %s is %s", want.Instance, i.Instance, i.State)
		}
	}
}

// checkGang holds that every task had its place before any was launched.
func (w *world) checkGang(t *rapid.T, d Decision, launched job.Instance) {
	known := map[job.Task]bool{}
	for _, i := range append(slices.Clone(d.Run.Tasks), w.seen.Instances...) {
		known[i.Task] = known[i.Task] || i.Attempt == d.Want.Attempt
	}
	for _, task := range d.Run.Spec.Tasks() {
		alone := d.Run.Progress.Tries[task.String()] > 0 && task != launched.Task // no start of the gang
		if !known[task] && !alone {
			t.Fatalf("%s is launched while %s has no place", launched, task)
		}
	}
}

// checkBudget holds that a new attempt has a right to be.
func (w *world) checkBudget(t *rapid.T, d Decision) {
	w.checkSince(t, d)
	if d.Run.Progress.FreeRetries > portRetries {
		t.Fatalf("%d free retries", d.Run.Progress.FreeRetries)
	}
	if d.Run.Spec.Restart.Limit == 0 && d.Run.Attempt > 1+d.Run.Progress.FreeRetries+w.resumes+resumed(w.r, d.Run) {
		t.Fatalf("attempt %d without a budget, after %d free retries and %d resumes", d.Run.Attempt, d.Run.Progress.FreeRetries, w.resumes)
	}
	if d.Run.Attempt > w.r.Attempt+1 {
		t.Fatalf("attempt %d follows %d", d.Run.Attempt, w.r.Attempt)
	}
}

// checkSince holds that a new attempt begins only when nothing is seen alive.
func (w *world) checkSince(t *rapid.T, d Decision) {
	if d.Run.Attempt == w.r.Attempt {
		return
	}
	for _, i := range w.seen.Instances {
		if !i.State.Gone() {
			t.Fatalf("attempt %d begins while %s is %s", d.Run.Attempt, i.Instance, i.State)
		}
	}
}

// resumed is 1 if a decision went on from a suspension.
func resumed(before, after run.Run) int {
	suspended := before.Phase == run.Suspended || before.Progress.Ending == run.ToSuspend
	if suspended && (after.Phase == run.Pending || after.Phase == run.Starting) {
		return 1
	}
	return 0
}

func (w *world) count(after run.Run) { w.resumes += resumed(w.r, after) }

// stored is what an owner finds that comes after this one has died.
func stored(t *rapid.T, r run.Run) run.Run {
	var back run.Run
	if err := json.Unmarshal([]byte(snapshotOf(t, r)), &back); err != nil {
		t.Fatal(err)
	}
	if again := snapshotOf(t, back); again != snapshotOf(t, r) {
		t.Fatalf("a record changes when it is stored:\n%s\n%s", snapshotOf(t, r), again)
	}
	return back
}

func snapshotOf(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func pointers(list []engine.Instance) []*engine.Instance {
	var all []*engine.Instance
	for n := range list {
		all = append(all, &list[n])
	}
	return all
}
