//go:build linux

package rank

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost"
)

// A stage has a run's folder and starts this binary as muster does.
type stage struct {
	t   *testing.T
	dir string
}

// newStage has a folder whose name is longer than a socket's may be.
func newStage(t *testing.T) stage {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return stage{t, dir}
}

func (s stage) rank(env []string, args ...string) *exec.Cmd {
	s.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{"rank", s.dir}, args...)...)
	cmd.Env = append(os.Environ(), "MUSTER_ATTEMPT=2")
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// record writes what a host writes when a rank has ended.
func (s stage) record(i engine.Instance) {
	s.t.Helper()
	line, err := json.Marshal(i)
	if err != nil {
		s.t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(s.dir, taskhost.JournalName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		s.t.Fatal(err)
	}
}

func exited(index, attempt, code int) engine.Instance {
	return engine.Instance{
		Instance: job.Instance{Task: job.Task{Role: role, Index: index}, Attempt: attempt, Try: 1},
		State:    engine.Exited, Cause: engine.ByExit, Code: code,
	}
}

func exitCode(err error) int {
	var x *exec.ExitError
	if errors.As(err, &x) {
		return x.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// joinSpeaker starts a rank that says a line to mpirun, and its stand-in, and
// returns mpirun's end of the open file.
func (s stage) joinSpeaker(line string, out *bytes.Buffer) (serve, join *exec.Cmd, mpirun *os.File) {
	s.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	mpirun, theirs := os.NewFile(uintptr(pair[0]), "mpirun"), os.NewFile(uintptr(pair[1]), "theirs")
	s.t.Cleanup(func() { mpirun.Close() })
	defer theirs.Close()
	serve = s.rank([]string{"MUSTER_TASK_INDEX=1", "MUSTER_TASK=worker-1", "MINE=task"}, "serve", "--", exe, "speak", line)
	serve.Stdout = out
	join = s.rank([]string{"PMI_RANK=1", "PMI_FD=3", "MINE=launcher", "GIVEN=it", "MUSTER_TASK=launcher-0"}, "join")
	join.ExtraFiles = []*os.File{theirs}
	for _, cmd := range []*exec.Cmd{serve, join} {
		if err := cmd.Start(); err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = cmd.Process.Kill() })
	}
	return serve, join, mpirun
}

// The task gets the rank, the open file and whatever else mpirun gave, stays
// the process it was, and its stand-in ends as it does.
func TestRankIsJoined(t *testing.T) {
	s := newStage(t)
	s.record(exited(1, 1, 0)) // of an attempt before
	var out bytes.Buffer
	serve, join, mpirun := s.joinSpeaker("cmd=init", &out)
	if said, err := bufio.NewReader(mpirun).ReadString('\n'); err != nil || said != "cmd=init\n" {
		t.Errorf("mpirun heard %q, %v", said, err)
	}
	if _, err := mpirun.WriteString("3\n"); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(serve.Wait()); code != 3 {
		t.Errorf("the rank exited with %d, want 3", code)
	}
	s.record(exited(1, 2, 3))
	if code := exitCode(join.Wait()); code != 3 {
		t.Errorf("its stand-in exited with %d, want 3", code)
	}
	want := strconv.Itoa(serve.Process.Pid) + " 1 1 task it worker-1\n"
	if got := out.String(); got != want {
		t.Errorf("the program is %q; want %q, the process that waited", got, want)
	}
}

// mpirun hears of a signal as a shell tells of it: it reports 137, not 1.
func TestRankEndsByASignal(t *testing.T) {
	s := newStage(t)
	serve, join, mpirun := s.joinSpeaker("cmd=init", &bytes.Buffer{})
	if _, err := bufio.NewReader(mpirun).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_ = serve.Process.Kill()
	_ = serve.Wait()
	end := exited(1, 2, 0)
	end.Cause, end.Signal = engine.BySignal, "KILL"
	s.record(end)
	if code := exitCode(join.Wait()); code != 137 {
		t.Errorf("its stand-in exited with %d, want 137", code)
	}
}

// MPICH's ranks ask mpirun to end them. The host is told instead, and mpirun
// learns of it when the rank is gone.
func TestRankAborts(t *testing.T) {
	s := newStage(t)
	read, err := s.hook()
	if err != nil {
		t.Fatal(err)
	}
	serve, join, mpirun := s.joinSpeaker("cmd=abort exitcode=7", &bytes.Buffer{})
	told, err := bufio.NewReader(read).ReadString('\n')
	want := fmt.Sprintf(`{"pid":%d,"task":"worker-1/2.1","stage":"teardown","type":"","text":"","code":7}`+"\n", serve.Process.Pid)
	if err != nil || told != want {
		t.Errorf("the host was told %q, %v; want %q", told, err, want)
	}
	_ = serve.Process.Kill()
	_ = serve.Wait()
	s.record(exited(1, 2, 7))
	if code := exitCode(join.Wait()); code != 7 {
		t.Errorf("its stand-in exited with %d, want 7", code)
	}
	if rest, err := io.ReadAll(mpirun); err != nil || len(rest) > 0 {
		t.Errorf("mpirun heard %q, %v; want nothing", rest, err)
	}
}

// hook makes the file through which a host is told things a pipe, to wait on.
func (s stage) hook() (*os.File, error) {
	name := filepath.Join(s.dir, taskhost.HookName)
	if err := unix.Mkfifo(name, 0o600); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err == nil {
		s.t.Cleanup(func() { f.Close() })
	}
	return f, err
}

func TestAbortIn(t *testing.T) {
	for _, tt := range []struct {
		line string
		code int
		ok   bool
	}{
		{"cmd=abort exitcode=7\n", 7, true},
		{"cmd=abort exitcode=-1\n", 255, true},
		{"cmd=abort exitcode=0\n", 1, true},
		{"cmd=abort\n", 1, true},
		{"cmd=put key=cmd=abort\n", 0, false},
		{"\n", 0, false},
		{"", 0, false},
	} {
		if code, ok := abortIn([]byte(tt.line)); code != tt.code || ok != tt.ok {
			t.Errorf("%q: got %d, %v", tt.line, code, ok)
		}
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	s := newStage(t)
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, program string
		code          int
	}{
		{"not there", "no-such-program", 127},
		{"not executable", plain, 126},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := s.rank([]string{"MUSTER_TASK_INDEX=0"}, "serve", "--", tt.program).CombinedOutput()
			if code := exitCode(err); code != tt.code || !bytes.Contains(out, []byte(tt.program)) {
				t.Errorf("exit %d: %s; want %d and the name", code, out, tt.code)
			}
		})
	}
}

// mpirun starts the stand-ins, here a script, and its end is the launcher's.
func TestLaunch(t *testing.T) {
	s := newStage(t)
	bin := t.TempDir()
	script := `#!/bin/sh
if [ "$1" = --version ]; then echo "mpirun (Open MPI) 4.1"; exit; fi
while [ "$1" != A=1 ]; do shift; done; shift
for rank in 0 1; do OMPI_COMM_WORLD_RANK=$rank "$@" & done
wait && exit 5
`
	if err := os.WriteFile(filepath.Join(bin, "mpirun"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var ranks []*exec.Cmd
	for i := range 2 {
		cmd := s.rank([]string{"MUSTER_TASK_INDEX=" + strconv.Itoa(i)}, "serve", "--", "/bin/sh", "-c", "exit $OMPI_COMM_WORLD_RANK")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ranks = append(ranks, cmd)
	}
	var out bytes.Buffer
	launcher := s.rank([]string{"PATH=" + bin + ":" + os.Getenv("PATH")}, "launch", "2", "auto", "auto", "-x", "A=1")
	launcher.Stderr = &out
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	for i, cmd := range ranks {
		if code := exitCode(cmd.Wait()); code != i {
			t.Errorf("rank %d exited with %d, want its number", i, code)
		}
		s.record(exited(i, 2, i))
	}
	if code := exitCode(launcher.Wait()); code != 5 {
		t.Errorf("the launcher exited with %d, want mpirun's 5", code)
	}
	if want := "+ " + bin + "/mpirun --hostfile "; !strings.HasPrefix(out.String(), want) {
		t.Errorf("it printed %s, want %s...", out.String(), want)
	}
}

func TestMerge(t *testing.T) {
	own := []string{"A=own", "OMPI_MCA_x=own", "PMI_RANKS=own", "PATH=/bin"}
	given := []string{"A=given", "B=given", "OMPI_MCA_x=given", "PMI_RANK=1", "MUSTER_TASK=launcher-0", "PATH=/opt"}
	want := []string{"A=own", "PMI_RANKS=own", "PATH=/bin", "B=given", "OMPI_MCA_x=given", "PMI_RANK=1"}
	if got := merge(own, given); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestOnlyMusterStartsIt(t *testing.T) {
	t.Setenv("MUSTER_ATTEMPT", "1")
	for _, args := range [][]string{nil, {t.TempDir()}, {t.TempDir(), "serve"}, {t.TempDir(), "serve", "--"}, {t.TempDir(), "launch", "2"}, {t.TempDir(), "fly"}} {
		if err := carryOut(args); !errors.Is(err, errByMuster) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
