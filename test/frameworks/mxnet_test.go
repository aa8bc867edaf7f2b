//go:build linux

package frameworks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster.dev/muster/internal/engine"
)

// gang runs testdata/gang.py as one scheduler, one server and two workers, from
// a bare command line.
func gang(t *testing.T, behaviour string) *trial {
	t.Helper()
	return start(t, need(t, "mxnet"), testdata, "-n", "2", "-s", "1", "--", "python", "gang.py", behaviour)
}

// trainDigits runs the example in the same way.
func trainDigits(t *testing.T, args ...string) *trial {
	t.Helper()
	command := append([]string{"-n", "2", "-s", "1", "--", "python", "train.py"}, args...)
	return start(t, need(t, "mxnet"), digits, command...)
}

func TestMXNetTrainsAsynchronously(t *testing.T) {
	t.Parallel()
	o := trainDigits(t, "--kv-store", "dist_async").finish()
	o.succeeded()
	if a := o.accuracy(); a <= 0.9 {
		t.Errorf("accuracy %.4f, want more than 0.9", a)
	}
	o.kept("digits.params")
}

// The workers arrive in the wrong order; MXNet's rank must be the index all the
// same, or logs and verdicts name the wrong one.
func TestMXNetRankIsTheIndex(t *testing.T) {
	t.Parallel()
	o := gang(t, "rank").finish()
	o.succeeded()
	here, err := filepath.Abs(testdata)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		want := fmt.Sprintf("rank %d of 2 in %s", i, here)
		if got := o.printed(fmt.Sprintf("worker-%d", i)); !slices.Equal(got, []string{want}) {
			t.Errorf("worker-%d printed %q, want %q", i, got, want)
		}
	}
}

// None of these ends by itself: the others wait for the dead one for ever.
func TestMXNetTaskIsKilled(t *testing.T) {
	t.Parallel()
	for _, task := range []string{"worker-1", "server-0", "scheduler-0"} {
		t.Run(task, func(t *testing.T) {
			t.Parallel()
			tr := trainDigits(t, "--epochs", "10000", "--slow", "0.6")
			tr.await("worker-0", "epoch 1 ")
			tr.kill(task)
			o := tr.finish()
			o.failed(137, task, "was killed from outside (SIGKILL)")
			if n := len(o.run.Verdict.First.Then); n != 3 {
				t.Errorf("%d tasks were ended because of it, want 3", n)
			}
		})
	}
}

func TestMXNetWorkerExits(t *testing.T) {
	t.Parallel()
	o := gang(t, "exit").finish()
	i := o.failed(3, "worker-1", "exited with code 3")
	if i.Cause != engine.ByExit || i.Code != 3 {
		t.Errorf("recorded as %s %d, want exit 3", i.Cause, i.Code)
	}
}

func TestMXNetBothWorkersRaise(t *testing.T) {
	t.Parallel()
	o := gang(t, "both").finish()
	first, other := "worker-0", "worker-1"
	if o.raisedAt(other).Before(o.raisedAt(first)) {
		first, other = other, first
	}
	words := map[string]string{
		"worker-0": "raised ValueError: worker 0 is unhappy",
		"worker-1": "raised ValueError: worker 1 is unhappy",
	}
	o.failed(1, first, words[first])
	for _, c := range o.run.Verdict.First.Then {
		if c.Task.String() == other && c.What != words[other] {
			t.Errorf("then %s %s, want %s", other, c.What, words[other])
		}
	}
}

// A worker that has trouble and goes on, ends well and then waits for the
// others in MXNet's exit barrier, as it should.
func TestMXNetWorkerSurvives(t *testing.T) {
	t.Parallel()
	o := gang(t, "survive").finish()
	o.succeeded()
	stderr := string(o.stderr.bytes())
	for _, want := range []string{"ValueError: caught and logged", "KeyError: 'printed by an extension'", "ZeroDivisionError"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("worker-1 did not print %q: it had no trouble", want)
		}
	}
	for _, task := range []string{"worker-0", "worker-1"} {
		if got := o.printed(task); len(got) == 0 || got[len(got)-1] != "done" {
			t.Errorf("%s printed %q, want done at the end", task, got)
		}
	}
}

// One worker never imports mxnet. The others come in time, unless the machine is
// very busy; then they are missing as well and are named with it.
func TestMXNetWorkerNeverJoins(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "muster.yaml")
	script, err := filepath.Abs(filepath.Join(testdata, "gang.py"))
	if err != nil {
		t.Fatal(err)
	}
	spec := "name: absent\nframework: mxnet\nworkers: 2\nservers: 1\nlimits: {rendezvous: 8s}\n" +
		"command: [python, " + script + ", absent]\n"
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	o := start(t, need(t, "mxnet"), ".", "-f", file).finish()
	var missing []string
	for _, i := range o.run.Tasks {
		if !i.Joined {
			missing = append(missing, i.Task.String())
		}
	}
	if !slices.Contains(missing, "worker-1") {
		t.Errorf("missing %q, want worker-1 among them", missing)
	}
	v := o.run.Verdict
	want := strings.Join(missing, ", ") + " did not join the others within limits.rendezvous, 8s"
	if o.exit != 124 || v.Exit.By != "muster" || v.Headline != want {
		t.Errorf("exit %d by %s: %s\nwant 124 by muster: %s", o.exit, v.Exit.By, v.Headline, want)
	}
}
