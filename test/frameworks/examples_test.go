//go:build linux

package frameworks

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster.dev/muster/internal/format/native"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/taskhost/process"
)

// runExample runs an example's job file as it is, with the environment that
// its framework needs.
func runExample(t *testing.T, file string) outcome {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spec, _, err := native.ParseFile(file, data)
	if err != nil {
		t.Fatal(err)
	}
	path := ""
	if spec == nil {
		return start(t, path, ".", "-f", file).finish()
	}
	if _, ok := environments[spec.Framework.Name]; ok {
		path = need(t, spec.Framework.Name)
	}
	return start(t, path, ".", "-f", file).finish()
}

func TestEveryExampleSucceeds(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(root + "/examples/*/muster.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		if strings.Contains(file, "/container-") {
			continue // test/containers runs these
		}
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			t.Parallel()
			if asksForGPU(t, file) && len(process.GPUs()) == 0 {
				refusedWithoutGPU(t, file)
				return
			}
			o := runExample(t, file)
			o.succeeded()
			switch filepath.Dir(file) {
			case filepath.Clean(digits):
				sameAfterResume(t, o)
			case filepath.Clean(ddp):
				o.kept("curve.pt")
			case filepath.Clean(curve):
				processesAreIndexes(o)
			case filepath.Clean(tune):
				endedWithTheTuner(o)
			case filepath.Clean(chainer):
				o.kept("ring.npz")
			}
		})
	}
}

func asksForGPU(t *testing.T, file string) bool {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spec, _, err := native.ParseFile(file, data)
	if err != nil {
		t.Fatal(err)
	}
	return spec != nil && spec.Roles["worker"] != nil && spec.Roles["worker"].Resources.GPUs > 0
}

// refusedWithoutGPU: a job that needs what this machine does not have is not
// started, and its user is told what to do.
func refusedWithoutGPU(t *testing.T, file string) {
	t.Helper()
	cmd := exec.Command(binary, "run", "-f", file)
	cmd.Env = append(os.Environ(), "MUSTER_STATE_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != run.ExitRefused || !strings.Contains(string(out), "this machine has 0") || !strings.Contains(string(out), "--gpus 0") {
		t.Errorf("%v, and it said:\n%s", err, out)
	}
}

// sameAfterResume checks the accuracy of the digits, and that a run that was
// killed in the middle and went on from its checkpoint gets to the very same.
func sameAfterResume(t *testing.T, whole outcome) {
	t.Helper()
	whole.kept("digits.params")
	want := whole.accuracy()
	if want <= 0.9 {
		t.Errorf("accuracy %.4f, want more than 0.9", want)
	}
	o := runExample(t, filepath.Join(digits, "resume.yaml"))
	o.succeeded()
	o.kept("digits.params")
	if got := o.accuracy(); got != want {
		t.Errorf("accuracy %.4f after a resume, %.4f without", got, want)
	}
	if o.run.Attempt != 2 || len(o.run.Failures) != 1 || o.run.Failures[0].What != "was killed from outside (SIGKILL)" {
		t.Errorf("attempt %d after %+v, want the second after one that was killed", o.run.Attempt, o.run.Failures)
	}
	if lines := strings.Join(o.printed("worker-1"), "\n"); !strings.Contains(lines, "epoch 2 ") || !strings.Contains(lines, "resumed from epoch 2\nepoch 3 ") {
		t.Errorf("worker-1 printed, and should have gone on after epoch 2:\n%s", lines)
	}
}

// What MXNet does when a worker raises: it hangs in its exit barrier, and so do
// the others.
func TestExampleThatFails(t *testing.T) {
	t.Parallel()
	const exception = "ValueError: bad label -1 in shard 3"
	o := runExample(t, filepath.Join(digits, "fail.yaml"))
	o.raisedAndHung(o.failed(1, "worker-1", "raised "+exception))
	if end := o.ending("worker-1"); !strings.HasPrefix(end, "Traceback") || !strings.HasSuffix(end, exception) {
		t.Errorf("its end:\n%s\nwant the traceback", end)
	}
	if n := len(o.run.Verdict.First.Then); n != 3 {
		t.Errorf("%d tasks were ended because of it, want 3", n)
	}
}
