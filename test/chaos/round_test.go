//go:build linux

package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/run"
)

// A kill is what is going to be killed, and when: that long after the run was
// first seen in the store.
type kill struct {
	target  Target
	after   time.Duration
	running bool // wait until every task has written its first piece
}

// A round is one run and what happens to it.
type round struct {
	bed   *bed
	plan  Plan
	kills []kill
	more  []string // lines of the job file

	freeze  time.Duration // how long everything of the run is stopped
	during  func()        // done while it runs
	meddles bool          // other muster commands look at it meanwhile

	point   string // as MUSTER_CRASH_AT
	crasher Target // what dies there
	fired   string // the file that says that it has
	noted   bool   // among the acts

	cmd    *exec.Cmd
	done   chan error
	output bytes.Buffer // what muster run said; read after done
	errors bytes.Buffer
	id     string
	hist   History
}

// run carries the round out and returns what was seen.
func (r *round) run() (History, error) {
	r.hist = History{Plan: r.plan}
	if err := r.submit(); err != nil {
		return r.hist, err
	}
	first, err := r.awaitStored()
	if err != nil {
		return r.hist, err
	}
	if first {
		if r.meddles {
			done := make(chan struct{})
			defer close(done)
			go r.meddle(done)
		}
		r.carryOut()
		if err := r.awaitEnd(); err != nil {
			return r.hist, err
		}
	} else {
		r.hist.Acts = append(r.hist.Acts, Act{Target: r.crasher, At: time.Now(), Hit: true})
		<-r.done
		r.hist.Acknowledged = strings.HasPrefix(r.output.String(), r.plan.Name+"-")
	}
	return r.hist, r.collect()
}

// submit starts muster run.
func (r *round) submit() error {
	path, err := r.bed.jobFile(r.plan, r.more...)
	if err != nil {
		return err
	}
	args := []string{"run", "-f", path}
	if r.plan.Detached {
		args = append(args, "-d")
	}
	r.cmd = r.bed.command(context.Background(), args...)
	if r.point != "" {
		r.cmd.Env = append(r.cmd.Env, crash.Variable+"="+r.point+"="+r.fired)
	}
	r.cmd.Stdout, r.cmd.Stderr = &r.output, &r.errors
	if err := r.cmd.Start(); err != nil {
		return err
	}
	r.done = make(chan error, 1)
	go func() { r.done <- r.cmd.Wait(); close(r.done) }()
	return nil
}

// awaitStored waits for the run in the store. It never comes there when muster
// run dies before.
func (r *round) awaitStored() (stored bool, err error) {
	err = await("the run is stored", patience, func() (bool, error) {
		ended := r.ended() // before we look
		rec, ok, err := r.bed.read(r.plan.Name)
		r.id, stored = rec.ID, ok
		return ok || ended, err
	})
	return stored, err
}

// ended says whether muster run has ended.
func (r *round) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// carryOut does what is to be done to the run.
func (r *round) carryOut() {
	if r.during != nil {
		r.during()
	}
	r.standStill()
	begin := time.Now()
	for _, k := range r.kills {
		<-time.After(time.Until(begin.Add(k.after)))
		if k.running {
			r.awaitRunning()
		}
		r.hist.Acts = append(r.hist.Acts, Act{Target: k.target, Hit: r.act(k.target), At: time.Now()})
	}
}

// act does one thing to the run and says whether there was something to do it to.
func (r *round) act(t Target) bool {
	if t != Stop {
		return signalAll(r.targets(t), syscall.SIGKILL)
	}
	code, out, err := r.bed.muster("stop", "--no-wait", r.id)
	return err == nil && code == 0 && !strings.Contains(out, "ended already")
}

// meddle has muster commands look at the run all the time, each of which starts
// an owner where it sees none.
func (r *round) meddle(until <-chan struct{}) {
	for {
		select {
		case <-until:
			return
		default:
			_, _, _ = r.bed.muster("ps") // that it works is checked elsewhere
		}
	}
}

// killWhenRunning adds kills, one right after the other, once all tasks run.
func (r *round) killWhenRunning(targets ...Target) {
	for n, t := range targets {
		r.kills = append(r.kills, kill{target: t, running: n == 0})
	}
}

// awaitRunning waits until every task has written something, or all is over. That it does not
// come to that is found by the checks that follow.
func (r *round) awaitRunning() {
	_ = await("all tasks run", patience/3, func() (bool, error) {
		events, err := r.bed.events(r.plan.Name)
		first := slices.DeleteFunc(events, func(e Event) bool { return e.Event != "w1" })
		rec := r.last()
		return len(first) >= r.plan.Workers || rec.Done(), err
	})
}

// targets are the processes that stand for a target now.
func (r *round) targets(t Target) []proc {
	switch {
	case t == Client || t == Owner && !r.plan.Detached:
		if r.ended() {
			return nil
		}
		p := readProc(r.cmd.Process.Pid)
		if len(p.argv) == 0 {
			return nil
		}
		return []proc{p}
	case t == Task:
		all := r.bed.of(r.id, Task)
		return all[:min(1, len(all))]
	}
	return r.bed.of(r.id, t)
}

// awaitEnd waits until the run has ended: by itself where nothing but owners
// and tasks were killed, else with the help of the next muster command.
func (r *round) awaitEnd() error {
	r.awaitPoint()
	r.noteCrash()
	if err := r.awaitAlone(); err != nil {
		return err
	}
	r.noteCrash()
	code, out, err := r.bed.muster("wait", r.id)
	if err != nil {
		return err
	}
	r.hist.Exits = append(r.hist.Exits, code)
	if !strings.Contains(out, r.id) {
		return fmt.Errorf("muster wait: %s", out)
	}
	select {
	case <-r.done:
	case <-time.After(patience):
		return errors.New("muster run does not end, and its run has ended")
	}
	r.noteCrash()
	if !r.plan.Detached && r.cmd.ProcessState.Exited() {
		r.hist.Exits = append(r.hist.Exits, r.cmd.ProcessState.ExitCode())
	}
	return nil
}

// awaitPoint gives the run the time to come to its crash point before there is
// another muster command, whose owner would not know of it. Not every run does.
func (r *round) awaitPoint() {
	if r.point == "" {
		return
	}
	_ = await("the crash point", 5*time.Second, func() (bool, error) {
		rec, _, err := r.bed.read(r.id)
		return exists(r.fired) || rec.Done() && len(r.bed.of(r.id, everything()...)) == 0, err
	})
}

// noteCrash adds the death at a crash point to what was done.
func (r *round) noteCrash() {
	if r.noted || !exists(r.fired) {
		return
	}
	r.hist.Acts = append(r.hist.Acts, Act{Target: r.crasher, At: fired(r.fired), Hit: true})
	r.noted = true
}

// awaitAlone waits, without any muster command that would help, for what must
// come by itself.
func (r *round) awaitAlone() error {
	switch {
	case r.plan.Isolation == "none" && r.hist.hits(Host) > 0 && r.hist.hits(Owner) > 0:
		return nil // what a task has started and left alone then waits for the next command
	case !r.plan.Detached && (r.hist.hits(Owner) > 0 || r.point != "" && r.crasher == Owner):
		// The leash: grace is 400 ms.
		return await("the tasks of a killed muster run are gone", patience/3, func() (bool, error) {
			return r.ended() && len(r.bed.of(r.id, Task)) == 0, nil
		})
	case r.selfHealing():
		return await("the run ends by itself", patience, func() (bool, error) {
			rec, _, err := r.bed.read(r.id)
			if rec.Done() {
				// Tasks must be gone when the end is stored, not some time later.
				r.hist.Left = append(r.hist.Left, describe("task alive at the end", r.bed.of(r.id, Task))...)
			}
			return rec.Done(), err
		})
	}
	return nil
}

// selfHealing says whether the run must come to its end without help: its host
// was there before anything was killed, and neither it nor its keeper was.
func (r *round) selfHealing() bool {
	if r.point != "" || r.hist.hits(Host, Keeper) > 0 {
		return false
	}
	if !r.plan.Detached {
		return r.hist.hits(Owner) == 0
	}
	events, err := r.bed.events(r.plan.Name)
	if err != nil || len(events) == 0 {
		return false
	}
	for _, a := range r.hist.Acts {
		if a.Hit && a.Target == Owner && a.At.Before(events[0].Time) {
			return false
		}
	}
	return true
}

// last is what the store has of the run, for a report.
func (r *round) last() run.Run {
	rec, _, _ := r.bed.read(r.plan.Name)
	return rec
}
