//go:build linux

package frameworks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster.dev/muster/internal/run"
)

// patience is how long a trial may take before something is wrong for certain.
const patience = 3 * time.Minute

// A trial is one call of muster run, with a state directory of its own. That
// directory is in the environment of every process of the run, and in no other's.
type trial struct {
	t              *testing.T
	env            []string
	marker         string // MUSTER_STATE_DIR=...
	stdout, stderr transcript
	ended          chan struct{} // closed when muster has ended
	exit           int           // then
	err            error         // then; not for an exit code
}

// start calls muster run in dir, with path first on PATH.
func start(t *testing.T, path, dir string, args ...string) *trial {
	t.Helper()
	tr := &trial{t: t, marker: "MUSTER_STATE_DIR=" + t.TempDir(), ended: make(chan struct{})}
	tr.env = append(os.Environ(), tr.marker, "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cmd := exec.CommandContext(ctx, binary, append([]string{"run"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, tr.env, &tr.stdout, &tr.stderr
	cmd.WaitDelay = 10 * time.Second // if something of the run holds our pipes
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	go func() {
		defer close(tr.ended)
		defer cancel()
		if err := cmd.Wait(); !errors.As(err, new(*exec.ExitError)) {
			tr.err = err
		}
		tr.exit = cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		cancel()
		<-tr.ended
		tr.sweep()
		if t.Failed() {
			t.Logf("%s\nstdout:\n%s\nstderr:\n%s", strings.Join(cmd.Args, " "), tr.stdout.bytes(), tr.stderr.bytes())
		}
	})
	return tr
}

// sweep ends what a failed test has left.
func (tr *trial) sweep() {
	for _, pid := range processes(tr.marker) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// await returns when the task has printed a line that begins with text.
func (tr *trial) await(task, text string) {
	tr.t.Helper()
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(task) + ` +\| ` + regexp.QuoteMeta(text))
	for {
		grown := tr.stdout.next()
		if line.Match(tr.stdout.bytes()) {
			return
		}
		select {
		case <-grown:
		case <-tr.ended:
			if !line.Match(tr.stdout.bytes()) {
				tr.t.Fatalf("the run ended before %s printed %q", task, text)
			}
			return
		}
	}
}

// kill ends a task by SIGKILL, from outside.
func (tr *trial) kill(task string) {
	tr.t.Helper()
	pids := processes(tr.marker, "MUSTER_TASK="+task)
	if len(pids) != 1 {
		tr.t.Fatalf("%s is these processes, want one:\n%s", task, describe(pids))
	}
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		tr.t.Fatal(err)
	}
}

// finish waits for the end of the run and returns its record. By then nothing
// of it may be left.
func (tr *trial) finish() outcome {
	tr.t.Helper()
	<-tr.ended
	if tr.err != nil {
		tr.t.Fatalf("muster run: %v", tr.err)
	}
	if left := processes(tr.marker); len(left) > 0 {
		tr.t.Errorf("left behind:\n%s", describe(left))
	}
	o := outcome{trial: tr}
	tr.ask(&o.run, "get", "-o", "json")
	if !o.run.Done() || o.run.Verdict == nil {
		tr.t.Fatalf("the run is %s when muster run has ended", o.run.Phase)
	}
	if o.run.Verdict.Exit.Code != tr.exit {
		tr.t.Errorf("exit %d, and the record says %d", tr.exit, o.run.Verdict.Exit.Code)
	}
	return o
}

// ask reads what muster says of the trial's only run.
func (tr *trial) ask(into any, args ...string) {
	tr.t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = tr.env
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		tr.t.Fatalf("muster %s: %v", strings.Join(args, " "), err)
	}
}

// A transcript is output that can be read while it grows.
type transcript struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{}
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
	return s.text.Write(p)
}

// next is closed at the next write.
func (s *transcript) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grown == nil {
		s.grown = make(chan struct{})
	}
	return s.grown
}

func (s *transcript) bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.text.Bytes())
}

// An outcome is a trial that has ended, and the record of its run.
type outcome struct {
	*trial
	run run.Run
}
