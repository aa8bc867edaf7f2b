//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "trainer")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "trainer")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// command prepares the trainer as a task with the given variables.
func command(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append([]string{"MUSTER_RUN=run-x", "MUSTER_TASK=worker-1", "MUSTER_ATTEMPT=1"}, env...)
	return cmd
}

// output runs the trainer to its end.
func output(t *testing.T, env []string, args ...string) (stdout, stderr string, end syscall.WaitStatus) {
	t.Helper()
	cmd := command(t, env, args...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	_ = cmd.Run() // how it ended is in its state
	return out.String(), err.String(), cmd.ProcessState.Sys().(syscall.WaitStatus)
}

func TestSteps(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, args     string
		stdout, stderr string
		code           int
	}{
		{"lines", "print=hi,2 stderr=oops partial=half", "hi\nhi\nhalf", "oops\n", 0},
		{"a code", "print=a exit=7 print=b", "a\n", "", 7},
		{"a variable", "print=$MUSTER_TASK-$$x", "worker-1-$x\n", "", 0},
		{"conditions", "only=worker-2 exit=3 only=worker-1 print=me onattempt=2 exit=4", "me\n", "", 0},
		{"progress", "tqdm=2", "", "\r  0%|          | 0/2\r 50%|#####     | 1/2\r100%|##########| 2/2\n", 0},
		{"one variable", "env=MUSTER_TASK env=NOPE", "MUSTER_TASK=worker-1\nNOPE is not set\n", "", 0},
		{"variables", "env=MUSTER_*", "MUSTER_ATTEMPT=1\nMUSTER_RUN=run-x\nMUSTER_TASK=worker-1\n", "", 0},
		{"time and memory", "sleep=1ms spin=1ms alloc=1M rate=1000 print=ok", "ok\n", "", 0},
		{"files", "touch=DIR/a wait=DIR/a file=DIR/b,one file=DIR/b,two print=ok", "ok\n", "", 0},
		{"a file that never comes", "wait=DIR/never,1ms", "", "trainer: wait=DIR/never,1ms: not there after 1ms\n", 1},
		{"nowhere to join", "join", "", "trainer: join: neither DMLC_ROLE nor MASTER_PORT is set\n", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, end := output(t, nil, strings.Fields(strings.ReplaceAll(c.args, "DIR", dir))...)
			if want := strings.ReplaceAll(c.stderr, "DIR", dir); stdout != c.stdout || stderr != want || end.ExitStatus() != c.code {
				t.Errorf("wrote %q and %q, exit %d; want %q and %q, exit %d", stdout, stderr, end.ExitStatus(), c.stdout, want, c.code)
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(dir, "b")); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("the file has %q (%v)", text, err)
	}
}

func TestUsage(t *testing.T) {
	stdout, stderr, end := output(t, nil, "print=a", "explode")
	if stdout != "" || !strings.HasPrefix(stderr, "trainer: explode: unknown step\nusage:") || end.ExitStatus() != exitUsage {
		t.Errorf("wrote %q and %q, exit %d", stdout, stderr, end.ExitStatus())
	}
}

func TestBytes(t *testing.T) {
	for _, n := range []int{0, 1, 79, 80, 81, 200_000} {
		first, _, _ := output(t, nil, fmt.Sprintf("bytes=%d", n))
		again, _, _ := output(t, []string{"MUSTER_TASK=checker"}, fmt.Sprintf("bytes=%d,worker-1", n))
		other, _, _ := output(t, nil, fmt.Sprintf("bytes=%d,worker-2", n))
		paced, _, _ := output(t, nil, "rate=1000000", fmt.Sprintf("bytes=%d", n))
		if len(first) != n || first != again || first != paced || n > 1 && first == other {
			t.Errorf("%d bytes: %d written, or not what a checker computes", n, len(first))
		}
		if n > 0 && !strings.HasSuffix(first, "\n") {
			t.Errorf("%d bytes do not end with a line", n)
		}
	}
}

func TestSignals(t *testing.T) {
	for name, want := range map[string]syscall.Signal{"KILL": syscall.SIGKILL, "SEGV": syscall.SIGSEGV, "ABRT": syscall.SIGABRT,
		"TERM": syscall.SIGTERM, "SIGBUS": syscall.SIGBUS, "PIPE": syscall.SIGPIPE, "QUIT": syscall.SIGQUIT} {
		_, stderr, end := output(t, nil, "signal="+name)
		if end.Signal() != want || stderr != "" {
			t.Errorf("signal=%s ended by %v, said %q", name, end.Signal(), stderr)
		}
	}
	_, stderr, end := output(t, nil, "panic")
	if end.ExitStatus() != 2 || !strings.Contains(stderr, "panic: as the script says") {
		t.Errorf("panic: exit %d, %q", end.ExitStatus(), stderr)
	}
}

func TestOnTerm(t *testing.T) {
	cmd, lines := begin(t, nil, "onterm=5", "print=up", "forever")
	await(t, lines, "up")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	await(t, lines, "got SIGTERM")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 5 {
		t.Errorf("exit %d, want 5", code)
	}
}

// begin starts the trainer; it is killed at the end of the test.
func begin(t *testing.T, env []string, args ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := command(t, env, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewReader(out)
}

func await(t *testing.T, lines *bufio.Reader, want string) {
	t.Helper()
	if got, err := lines.ReadString('\n'); err != nil || got != want+"\n" {
		t.Fatalf("the trainer says %q (%v), want %q", got, err, want)
	}
}

// left reads "left PID" and sees to it that the process ends with the test.
func left(t *testing.T, lines *bufio.Reader) int {
	t.Helper()
	text, err := lines.ReadString('\n')
	pid, err2 := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(text), "left "))
	if err != nil || err2 != nil {
		t.Fatalf("the trainer says %q (%v, %v)", text, err, err2)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

// stat returns the process group and session of a process.
func stat(t *testing.T, pid int) (group, session int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	var parent int
	var state string
	if _, err := fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &state, &parent, &group, &session); err != nil {
		t.Fatal(err)
	}
	return group, session
}

func TestChildrenLeftBehind(t *testing.T) {
	cmd, lines := begin(t, nil, "fork", "setsid", "daemon", "print=done", "forever")
	fork, session, daemon := left(t, lines), left(t, lines), left(t, lines)
	await(t, lines, "done")
	myGroup, mySession := stat(t, cmd.Process.Pid)
	if g, s := stat(t, fork); g != myGroup || s != mySession {
		t.Errorf("fork's child is in group %d, session %d; want %d, %d", g, s, myGroup, mySession)
	}
	for _, pid := range []int{session, daemon} {
		if g, s := stat(t, pid); g != pid || s != pid {
			t.Errorf("child %d is in group %d, session %d", pid, g, s)
		}
	}
	for _, pid := range []int{fork, session, daemon} {
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || !strings.HasSuffix(string(args), "\x00hold\x00run-x\x00") {
			t.Errorf("child %d is called %q (%v)", pid, args, err)
		}
	}
	if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", daemon)); err != nil || len(env) > 0 {
		t.Errorf("the daemon has the environment %q (%v)", env, err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", daemon))
	_, mask, _ := strings.Cut(string(status), "SigIgn:\t")
	bits, err2 := strconv.ParseUint(strings.Fields(mask)[0], 16, 64)
	if err != nil || err2 != nil || bits&(1<<(syscall.SIGTERM-1)) == 0 {
		t.Errorf("the daemon does not ignore SIGTERM: %x (%v, %v)", bits, err, err2)
	}
}

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "alive")
	first, lines := begin(t, nil, "lock="+name, "daemon", "print=up", "forever")
	daemon := left(t, lines)
	await(t, lines, "up")
	if _, stderr, end := output(t, nil, "lock="+name); end.ExitStatus() != 0 {
		t.Errorf("another task of the same attempt: %q", stderr)
	}
	second := []string{"MUSTER_ATTEMPT=2"}
	refused := func() {
		t.Helper()
		_, stderr, end := output(t, second, "lock="+name)
		if end.ExitStatus() != exitLock || !strings.Contains(stderr, "attempt 1 of run-x is still alive beside attempt 2") {
			t.Errorf("the next attempt beside it: exit %d, %q", end.ExitStatus(), stderr)
		}
	}
	refused()
	_ = first.Process.Kill()
	_ = first.Wait()
	refused() // what it left behind still lives
	_ = syscall.Kill(daemon, syscall.SIGKILL)
	gone(t, daemon)
	if _, stderr, end := output(t, second, "lock="+name); end.ExitStatus() != 0 {
		t.Errorf("the next attempt after it: %q", stderr)
	}
}

// gone waits until a process that is not ours to wait for has ended, with all of
// its threads: the last one closes its files.
func gone(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for end := time.Now().Add(patience); time.Now().Before(end); {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(time.Until(end)/time.Millisecond))
		if n > 0 {
			return
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			t.Fatal(err)
		}
	}
	t.Fatalf("process %d is still there", pid)
}

func TestRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "events")
	output(t, []string{"MUSTER_TRY=3"}, "record="+name, "record="+name+",end")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	for _, event := range []string{"start", "end"} {
		var got line
		if err := dec.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if got.PID == 0 || got.Time.IsZero() {
			t.Errorf("no pid or time in %s", text)
		}
		got.PID, got.Time = 0, time.Time{}
		if want := (line{Run: "run-x", Task: "worker-1", Attempt: "1", Try: "3", Event: event}); got != want {
			t.Errorf("recorded %+v, want %+v", got, want)
		}
	}
}

// held binds a port as the task host does: reserved, but not listening.
func held(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{}); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(at.(*syscall.SockaddrInet4).Port)
}

func TestListenAndDial(t *testing.T) {
	port := held(t)
	env := []string{"PORT=" + port}
	_, lines := begin(t, env, "listen=PORT", "forever")
	await(t, lines, "listening on 127.0.0.1:"+port)
	if stdout, stderr, end := output(t, env, "dial=PORT"); end.ExitStatus() != 0 {
		t.Errorf("dial: %q, %q", stdout, stderr)
	}
	_, stderr, end := output(t, env, "listen=PORT")
	if end.ExitStatus() != 1 || !strings.Contains(stderr, "address already in use") {
		t.Errorf("a second listener: exit %d, %q", end.ExitStatus(), stderr)
	}
}

func TestJoinDMLC(t *testing.T) {
	env := []string{"DMLC_PS_ROOT_URI=127.0.0.1", "DMLC_PS_ROOT_PORT=" + held(t), "DMLC_NUM_WORKER=1", "DMLC_NUM_SERVER=1"}
	var all []*bufio.Reader
	for _, role := range []string{"worker", "scheduler", "server"} {
		_, lines := begin(t, append(env, "DMLC_ROLE="+role, "PORT="+held(t)), "print=up", "join", "forever")
		await(t, lines, "up")
		all = append(all, lines)
	}
	for _, lines := range all {
		await(t, lines, "joined 2 others")
	}
}

func TestJoinStrict(t *testing.T) {
	env := []string{"MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + held(t), "WORLD_SIZE=3"}
	var cmds []*exec.Cmd
	var all []*bufio.Reader
	for rank, last := range []string{"forever", "exit=0", "forever"} {
		cmd, lines := begin(t, append(env, fmt.Sprintf("RANK=%d", rank)), "join=strict", last)
		cmds, all = append(cmds, cmd), append(all, lines)
	}
	for _, lines := range all {
		await(t, lines, "joined 2 others")
	}
	if err := cmds[1].Wait(); err != nil {
		t.Errorf("rank 1 was to end well: %v", err)
	}
	_ = cmds[2].Process.Kill()
	_ = cmds[0].Wait()
	if code := cmds[0].ProcessState.ExitCode(); code != 1 {
		t.Errorf("rank 0 exits %d after rank 2 was lost, want 1", code)
	}
}

// Somebody who only looks whether the leader listens is not a member.
func TestJoinIgnoresProbes(t *testing.T) {
	port := held(t)
	env := []string{"MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port, "WORLD_SIZE=2"}
	_, leader := begin(t, append(env, "RANK=0"), "join", "forever")
	probe, err := dialUntil("127.0.0.1:"+port, patience)
	if err != nil {
		t.Fatal(err)
	}
	probe.Close()
	_, member := begin(t, append(env, "RANK=1"), "join", "forever")
	await(t, member, "joined 1 others")
	await(t, leader, "joined 1 others")
}
