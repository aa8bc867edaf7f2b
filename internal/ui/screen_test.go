package ui

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster.dev/muster/test/suite"
)

var tty = Style{Terminal: true, Unicode: true, Width: 60, Height: 10}

// on returns a running screen that shows both streams on e and redraws the
// block with every write, or only when it must.
func on(t *testing.T, e *emulator, eager bool) *Screen {
	t.Helper()
	s := newScreen(Config{Out: e, Err: e, OutStyle: tty, ErrStyle: tty, Size: e.size})
	s.err.after = func(time.Duration) <-chan time.Time {
		c := make(chan time.Time, 1)
		if eager {
			c <- time.Time{}
		}
		return c
	}
	s.start()
	t.Cleanup(s.Abandon)
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, e *emulator, want ...string) {
	t.Helper()
	if got := e.text(); got != strings.Join(want, "\n") {
		t.Errorf("the screen shows %q, want %q", got, want)
	}
}

func TestBlockStaysBelow(t *testing.T) {
	e := newEmulator(60, 10)
	s := on(t, e, true)
	s.Status([]string{"server 1/1", "worker 2/2"})
	must(t, s.Flush())
	expect(t, e, "server 1/1", "worker 2/2", "")
	must(t, s.Print(Out, "worker-0    | ", []byte("epoch 0")))
	must(t, s.Print(Err, "worker-1    ! ", []byte("Traceback")))
	must(t, s.Flush())
	expect(t, e, "worker-0    | epoch 0", "worker-1    ! Traceback", "server 1/1", "worker 2/2", "")
	s.Status([]string{"worker 1/2"})
	must(t, s.Flush())
	expect(t, e, "worker-0    | epoch 0", "worker-1    ! Traceback", "worker 1/2", "")
	must(t, s.Clear())
	expect(t, e, "worker-0    | epoch 0", "worker-1    ! Traceback", "")
}

func TestSameStatusIsNotRedrawn(t *testing.T) {
	e := newEmulator(60, 10)
	s := on(t, e, true)
	for range 5 {
		s.Status([]string{"worker 2/2"})
		must(t, s.Flush())
	}
	if e.writes != 1 {
		t.Errorf("%d writes for one status", e.writes)
	}
}

func TestBlockFits(t *testing.T) {
	e := newEmulator(12, 5)
	s := on(t, e, true)
	s.Status([]string{"a long line of text", "日本語日本語日本", "c\td\ne", "d", "e"})
	must(t, s.Flush())
	expect(t, e, "a long lin…", "日本語日本…", "… 3 more", "")
	must(t, s.Close())
	expect(t, e, "")
}

func TestNarrowedTerminal(t *testing.T) {
	e := newEmulator(40, 20)
	s := on(t, e, true)
	must(t, s.Print(Out, "", []byte("first")))
	s.Status([]string{strings.Repeat("a", 39), strings.Repeat("b", 39)})
	must(t, s.Flush())
	e.resize(15)
	must(t, s.Print(Out, "", []byte("second")))
	must(t, s.Clear())
	expect(t, e, "first", "second", "")
}

func TestResumeLeavesWhatOthersWrote(t *testing.T) {
	e := newEmulator(40, 20)
	s := on(t, e, true)
	s.Status([]string{"status"})
	must(t, s.Flush())
	e.Write([]byte("[1]+ Stopped\n$ fg\n"))
	s.Resume()
	must(t, s.Flush())
	expect(t, e, "status", "[1]+ Stopped", "$ fg", "status", "")
	must(t, s.Close())
	expect(t, e, "status", "[1]+ Stopped", "$ fg", "")
}

func TestStorm(t *testing.T) {
	for _, eager := range []bool{true, false} {
		t.Run(fmt.Sprintf("eager=%v", eager), func(t *testing.T) {
			storm(t, eager)
		})
	}
}

// storm prints and draws from many goroutines; at the end the terminal must
// hold every line once, in order per task, and nothing else.
func storm(t *testing.T, eager bool) {
	const tasks, lines = 8, 400
	e := newEmulator(60, 10)
	s := on(t, e, eager)
	var group sync.WaitGroup
	for task := range tasks {
		group.Go(func() {
			pick := rand.New(rand.NewPCG(1, uint64(task)))
			for i := range lines {
				text := fmt.Sprintf("%d%s", i, strings.Repeat("=", pick.IntN(150)))
				s.Print(Stream(pick.IntN(2)), fmt.Sprintf("task-%d | ", task), []byte(text))
				if pick.IntN(50) == 0 {
					s.Flush()
				}
			}
		})
	}
	for n := range 3 {
		group.Go(func() {
			for i := range lines {
				s.Status(slices.Repeat([]string{fmt.Sprintf("BLOCK %d %d", n, i)}, i%12))
				if i%100 == 0 {
					s.Clear()
				}
			}
		})
	}
	group.Wait()
	must(t, s.Close())
	check(t, e.text(), tasks, lines)
}

func check(t *testing.T, text string, tasks, lines int) {
	t.Helper()
	text, ended := strings.CutSuffix(text, "\n")
	if !ended {
		t.Error("the cursor is not on an empty line")
	}
	next := make([]int, tasks)
	for line := range strings.SplitSeq(text, "\n") {
		var task, i int
		if n, _ := fmt.Sscanf(line, "task-%d | %d", &task, &i); n != 2 || strings.Contains(line, "BLOCK") {
			t.Fatalf("this is no line of a task: %q", line)
		}
		if i != next[task] {
			t.Fatalf("task-%d: line %d came when %d was next", task, i, next[task])
		}
		next[task]++
	}
	for task, n := range next {
		if n != lines {
			t.Errorf("task-%d: %d of %d lines", task, n, lines)
		}
	}
}

func TestPipedStreams(t *testing.T) {
	var out, err bytes.Buffer
	s := NewScreen(Config{Out: &out, Err: &err})
	if s.Live() {
		t.Error("status lines without a terminal")
	}
	s.Status([]string{"never seen"})
	must(t, s.Print(Out, "a | ", []byte("1")))
	must(t, s.Print(Err, "", []byte("muster: done")))
	must(t, s.Close())
	must(t, s.Close())
	must(t, s.Print(Out, "", []byte("too late")))
	if out.String() != "a | 1\n" || err.String() != "muster: done\n" {
		t.Errorf("out %q, err %q", out.String(), err.String())
	}
}

func TestOpenOnFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "both")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	s := Open(f, f, environ(nil), 0)
	for i := range 100 {
		must(t, s.Print(Stream(i%2), "", fmt.Append(nil, i)))
	}
	must(t, s.Close())
	got, err := os.ReadFile(path)
	must(t, err)
	for i, line := range strings.Split(strings.TrimSpace(string(got)), "\n") {
		if line != fmt.Sprint(i) {
			t.Fatalf("line %d is %q: the streams lost their order", i, line)
		}
	}
}

func TestLiveOnlyWhereNothingElseWrites(t *testing.T) {
	term, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		suite.Require(t, "terminal", "no pseudo terminal here: "+err.Error())
	}
	defer term.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	must(t, err)
	defer file.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	must(t, err)
	defer null.Close()
	r, pipe, err := os.Pipe()
	must(t, err)
	defer r.Close()
	defer pipe.Close()
	tests := []struct {
		name     string
		out, err *os.File
		want     bool
	}{
		{"one terminal", term, term, true},
		{"stdout to a file", file, term, true},
		{"stdout to nowhere", null, term, true},
		{"stdout to a pipe, which may end on the terminal", pipe, term, false},
		{"stderr to a file", term, file, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Open(tt.out, tt.err, environ(map[string]string{"TERM": "xterm"}), 0)
			defer s.Abandon()
			if s.Live() != tt.want {
				t.Errorf("live is %v", s.Live())
			}
		})
	}
}

func TestReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	must(t, err)
	defer w.Close()
	must(t, r.Close())
	var other bytes.Buffer
	s := NewScreen(Config{Out: w, Err: &other})
	must(t, s.Print(Out, "", []byte("to nobody")))
	<-s.Gone(Out)
	if err := s.Print(Out, "", []byte("more")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("the first call after the reader went returned %v", err)
	}
	must(t, s.Print(Out, "", []byte("dropped")))
	must(t, s.Print(Err, "", []byte("still here")))
	must(t, s.Close())
	if other.String() != "still here\n" {
		t.Errorf("the other stream got %q", other.String())
	}
}
