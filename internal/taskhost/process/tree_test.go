//go:build linux

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// await polls for what nobody tells us of.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

// start runs a command until the end of the test.
func start(t *testing.T, env []string, argv ...string) int {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		Kill(syscall.SIGKILL, append(Descendants(cmd.Process.Pid), cmd.Process.Pid)...)
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

func TestDescendants(t *testing.T) {
	pid := start(t, nil, "sh", "-c", "sh -c 'sleep 100 & sleep 100' & sleep 100; true")
	var all []int
	await(t, "four processes below", func() bool { all = Descendants(pid); return len(all) == 4 })
	if children := Children(pid); len(children) != 2 || !slices.Contains(all, children[0]) || !slices.Contains(all, children[1]) {
		t.Errorf("children %v of descendants %v", children, all)
	}
	if !slices.Contains(Descendants(os.Getpid()), pid) {
		t.Error("we do not see our own child")
	}
	Kill(syscall.SIGKILL, all...)
	await(t, "their end", func() bool { return len(Descendants(pid)) == 0 })
	if got := Descendants(1 << 30); got != nil {
		t.Errorf("a process that is not there has descendants %v", got)
	}
}

func TestReadStat(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plain", "a) R (b", ") Z 1 1", "two words", "(("} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.Symlink(sleep, path); err != nil {
			t.Fatal(err)
		}
		pid := start(t, nil, path, "100")
		await(t, name, func() bool {
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			return strings.TrimSpace(string(b)) == name
		})
		var st Stat
		await(t, name+" asleep", func() bool { st, err = ReadStat(pid); return err != nil || st.State == 'S' })
		if err != nil || st.Parent != os.Getpid() || st.Start == 0 || st.Memory == 0 {
			t.Errorf("%q: %+v, %v", name, st, err)
		}
		if again, err := ReadStat(pid); err != nil || again.Start != st.Start || again.Session != st.Session {
			t.Errorf("%q: %+v, then %+v, %v", name, st, again, err)
		}
	}
	if _, err := ReadStat(1 << 30); err == nil {
		t.Error("a process that is not there has a stat")
	}
}

func TestWithEnv(t *testing.T) {
	mark := "MUSTER_RUN=process-test-" + filepath.Base(t.TempDir()) + "-" + t.Name()
	with := start(t, []string{"A=1", mark, "B=2"}, "sleep", "100")
	first := start(t, []string{mark}, "sleep", "100")
	start(t, []string{mark + "x"}, "sleep", "100")
	start(t, []string{"X" + mark}, "sleep", "100")
	await(t, "exec", func() bool { return len(WithEnv(mark)) >= 2 })
	got := WithEnv(mark)
	slices.Sort(got)
	want := []int{with, first}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	Kill(syscall.SIGKILL, with)
	// Not yet reaped, it is no process that could be ended any more.
	await(t, "its end", func() bool { return slices.Equal(WithEnv(mark), []int{first}) })
}

// TestKillGroup has a process that is stopped: it must see the signal at once.
func TestKillGroup(t *testing.T) {
	cmd := exec.Command("sh", "-c", "trap 'exit 7' TERM; kill -STOP $$; while :; do sleep 1; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	await(t, "a stopped process", func() bool { st, err := ReadStat(pid); return err == nil && st.State == 'T' })
	KillGroup(syscall.SIGTERM, pid)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 7 {
		t.Errorf("%s, want exit code 7", cmd.ProcessState)
	}
	KillGroup(syscall.SIGTERM, pid) // gone: no error, and nobody else is meant
	KillGroup(syscall.SIGTERM, 0)   // would be our own group
	Kill(syscall.SIGTERM, 0, 1, -1) // would be everybody
}
