package cli

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

func TestPlain(t *testing.T) {
	starting := sample()
	starting.Phase, starting.Attempt, starting.Tasks = run.Starting, 0, nil
	tests := []struct {
		name, want string
		r          run.Run
	}{
		{"running", "digits-k3f9 Running 4/4, attempt 1", sample()},
		{"before its first attempt", "digits-k3f9 Starting 0/4", starting},
		{"with a reason", "lm-c40v Running 4/4, attempt 1", list()[0]},
		{"restarting", "again-7qqa Restarting 3/4, attempt 2: worker-1 exited with code 3", list()[2]},
		{"succeeded", "digits-k3f9 Succeeded in 5.0s", ended(run.Succeeded, 0, "")},
		{"failed", "digits-k3f9 Failed (3) after 5.0s: worker-1 exited with code 3", ended(run.Failed, 3, "worker-1 exited with code 3")},
		{"stopped", "digits-k3f9 Stopped after 5.0s: stopped by Ctrl-C", ended(run.Stopped, 130, "stopped by Ctrl-C")},
	}
	for _, tt := range tests {
		if got := plain(tt.r); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestHeadline(t *testing.T) {
	r := sample()
	r.Engine, r.Origin.Inference = "elsewhere", "from -s 1"
	if got, want := headline(r), "digits-k3f9   mxnet (from -s 1): 1 scheduler, 1 server, 2 workers   elsewhere   code in place"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Origin.Inference, r.Origin.Code, r.Origin.CodeSize = "", "9c1e04aabb", 61e3
	if got, want := headline(r), "digits-k3f9   mxnet: 1 scheduler, 1 server, 2 workers   elsewhere   code @9c1e04 61K"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRoleLine(t *testing.T) {
	busy := task("worker-0", engine.Running)
	busy.Usage = engine.Usage{CPU: 1.62, Memory: 404e6, Silent: 12 * time.Second}
	loud := busy
	loud.Usage.Silent = 0
	tests := []struct {
		name, want string
		of         []engine.Instance
	}{
		{"none yet", "worker      0/2 waiting   0:04", nil},
		{"running", "worker      2/2 running   0:04   cpu 324%   mem 808M", []engine.Instance{busy, loud}},
		{"silent", "worker      1/2 running   0:04   cpu 162%   mem 404M   silent 12s", []engine.Instance{busy}},
		{"some gone", "worker      1/2 running   0:04   cpu 162%   mem 404M", []engine.Instance{loud, task("worker-1", engine.Exited)}},
		{"being stopped", "worker      1/2 stopping   0:04", []engine.Instance{task("worker-0", engine.Running), task("worker-1", engine.Stopping)}},
	}
	for _, tt := range tests {
		if got := roleLine("worker", tt.of, 2, 4*time.Second); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// One line per change, and one a minute.
func TestPlainLines(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	screen := ui.NewScreen(ui.Config{Out: in, Err: in})
	r := sample()
	r.Started = time.Now().Add(-61 * time.Second)
	v := newView(screen, r)
	starting := r
	starting.Phase = run.Starting
	v.show(starting) // says nothing by itself
	v.show(r)
	v.show(r)
	v.saidAt = v.saidAt.Add(-time.Minute)
	v.show(r)
	r.Phase, r.Reason = run.Restarting, "worker-1 exited with code 3"
	v.show(r)
	v.show(ended(run.Succeeded, 0, "")) // the report says it
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	b, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"muster: digits-k3f9 Running 4/4, attempt 1",
		"muster: digits-k3f9 Running 4/4, attempt 1, 1m01s, last output just now",
		"muster: digits-k3f9 Restarting 4/4, attempt 1: worker-1 exited with code 3",
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if strings.Join(lines[1:], "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(lines[1:], "\n"), strings.Join(want, "\n"))
	}
}

func TestUnderWay(t *testing.T) {
	tests := []struct {
		phase  run.Phase
		reason string
		want   bool
	}{
		{run.Pending, "", false}, {run.Pending, "waits for 2 GPUs", true}, {run.Starting, "", false}, {run.Running, "", true},
		{run.Restarting, "x", true}, {run.Suspended, "", true}, {run.Ending, "", true}, {run.Failed, "x", true}, {run.Succeeded, "", true},
	}
	for _, tt := range tests {
		if got := underWay(run.Run{Phase: tt.phase, Reason: tt.reason}); got != tt.want {
			t.Errorf("%s (%s): %v", tt.phase, tt.reason, got)
		}
	}
}
