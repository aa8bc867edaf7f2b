//go:build linux

package frameworks

import (
	"slices"
	"syscall"
	"testing"

	"muster.dev/muster/internal/run"
)

const tune = root + "/examples/tvm-rpc"

// A server that is lost does not come back, and the tuner would wait for it.
func TestTVMServerIsKilled(t *testing.T) {
	t.Parallel()
	tr := start(t, need(t, "tvm"), tune, "--framework", "tvm", "-n", "1", "-s", "1", "--", "python", "tune.py", "--rounds", "10000", "--slow", "0.2")
	tr.await("tuner-0", "server 0: ")
	killMain(tr, "server-0")
	tr.finish().failed(137, "server-0", "was killed from outside (SIGKILL)")
}

// endedWithTheTuner checks a run of the example.
func endedWithTheTuner(o outcome) {
	o.t.Helper()
	if got := o.printed("tuner-0"); !slices.Contains(got, "2 servers offer muster") {
		o.t.Errorf("tuner-0 printed %q", got)
	}
	if want := "tuner-0 finished; server and tracker ended after it"; o.run.Verdict.Headline != want {
		o.t.Errorf("verdict: %s; want %s", o.run.Verdict.Headline, want)
	}
}

// killMain ends the process that Muster started for a task, which has others.
func killMain(tr *trial, task string) {
	tr.t.Helper()
	var r run.Run
	tr.ask(&r, "get", "-o", "json")
	for _, i := range r.Tasks {
		if i.Task.String() == task && i.Pid > 0 {
			if err := syscall.Kill(i.Pid, syscall.SIGKILL); err != nil {
				tr.t.Fatal(err)
			}
			return
		}
	}
	tr.t.Fatalf("no process of %s is known: %+v", task, r.Tasks)
}
