//go:build linux

package container

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

func TestRanksHavePidsOfTheirOwn(t *testing.T) {
	for task, want := range map[job.Task][]string{
		{Role: "launcher"}:         nil,
		{Role: "worker"}:           {"--above", "1024"},
		{Role: "worker", Index: 3}: {"--above", "1120"},
	} {
		b := Box{Instance: job.Instance{Task: task}, Launch: &engine.Launch{Container: &engine.Container{Ranks: true}}}
		if got := b.pids(); !slices.Equal(got, want) {
			t.Errorf("%s: got %q", task, got)
		}
		b.Launch.Container.Ranks = false
		if got := b.pids(); got != nil {
			t.Errorf("%s, no rank: got %q", task, got)
		}
	}
}

func TestTakeAbove(t *testing.T) {
	if above, rest := takeAbove(strings.Fields("--above 1056 worker-1 /dir x")); above != 1056 || !slices.Equal(rest, []string{"worker-1", "/dir", "x"}) {
		t.Errorf("got %d, %q", above, rest)
	}
	if above, rest := takeAbove(strings.Fields("worker-1 /dir x")); above != 0 || len(rest) != 3 {
		t.Errorf("got %d, %q", above, rest)
	}
}

func TestFits(t *testing.T) {
	for pid, ok := range map[int]bool{1055: false, 1056: true, 1087: true, 1088: false} {
		if err := fits(pid, 1056); (err == nil) != ok {
			t.Errorf("%d: %v", pid, err)
		}
	}
	if err := fits(3, 0); err != nil {
		t.Error(err)
	}
}

// The ids of this machine come round again, and others take them too: only that
// they are used up can be seen here.
func TestUsePids(t *testing.T) {
	if err := usePids(maxPid()); err == nil {
		t.Error("more ids than there are")
	}
	now := unix.Gettid()
	if now+1000 > maxPid() {
		t.Skip("about to begin anew")
	}
	if err := usePids(now + 100); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if pid := cmd.Process.Pid; pid < now+100 {
		t.Errorf("the next process is %d, want above %d", pid, now+100)
	}
}
