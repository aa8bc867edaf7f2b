package snapshot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is also the other process: with these variables set it takes
// snapshots until it is killed.
const (
	childStore = "SNAPSHOT_TEST_STORE"
	childRoot  = "SNAPSHOT_TEST_ROOT"
	childTimes = "SNAPSHOT_TEST_TIMES" // once, for ever or prune
	childStep  = "SNAPSHOT_TEST_STEP"  // after which it dies
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childStore); dir != "" {
		s := &Store{Dir: dir, step: dieAt(step(os.Getenv(childStep)))}
		os.Exit(child(s, os.Getenv(childRoot), os.Getenv(childTimes)))
	}
	os.Exit(m.Run())
}

func dieAt(last step) func(step) {
	return func(at step) {
		if at == last {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal may take a moment
		}
	}
}

// child takes snapshots of root, prints an id for each, and forgets all
// content in between when it is to go on for ever.
func child(s *Store, root, times string) int {
	if times == "prune" {
		if err := s.Prune(func(string) bool { return false }); err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	}
	for {
		snap, err := s.Take(context.Background(), root, Options{})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(snap.ID)
		if times == "once" {
			return 0
		}
		os.RemoveAll(filepath.Join(s.Dir, "objects"))
		os.RemoveAll(s.packDir())
	}
}

func startChild(t *testing.T, s *Store, root, times string, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), env...), childStore+"="+s.Dir, childRoot+"="+root, childTimes+"="+times)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// many makes a folder of n small files.
func many(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("d%d", i%50), fmt.Sprintf("f%d.py", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Repeat(fmt.Sprintln("line", i), 50)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestProcessesAtTheSameTime(t *testing.T) {
	s, dir := newStore(t), many(t, 300)
	var out []*bufio.Scanner
	var cmds []*exec.Cmd
	for range 4 {
		cmd, lines := startChild(t, s, dir, "once")
		cmds, out = append(cmds, cmd), append(out, lines)
	}
	mine := take(t, s, dir)
	for i, lines := range out {
		lines.Scan()
		if lines.Text() != mine.ID {
			t.Errorf("process %d says %q, want %s", i, lines.Text(), mine.ID)
		}
		if err := cmds[i].Wait(); err != nil {
			t.Error(err)
		}
	}
	if got, want := listing(t, extract(t, s, mine.ID)), listing(t, dir); !slices.Equal(got, want) {
		t.Error("the copy differs")
	}
	empty(t, filepath.Join(s.Dir, "tmp"))
}

func empty(t *testing.T, dir string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil || len(list) > 0 {
		t.Errorf("%s holds %v (%v), want nothing", dir, list, err)
	}
}

func TestKilledInTheMiddle(t *testing.T) {
	s, dir := newStore(t), many(t, 300)
	for range 5 {
		cmd, lines := startChild(t, s, dir, "for ever")
		for range 2 {
			if !lines.Scan() {
				t.Fatal("the child ended by itself")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		whole(t, s)
	}
	snap := take(t, s, dir)
	if got, want := listing(t, extract(t, s, snap.ID)), listing(t, dir); !slices.Equal(got, want) {
		t.Error("the copy differs")
	}
}

// whole checks that all that the store shows is what its name says.
func whole(t *testing.T, s *Store) {
	t.Helper()
	for _, o := range objects(t, s) {
		text, err := os.ReadFile(o)
		if name := filepath.Base(filepath.Dir(o)) + filepath.Base(o); err != nil || sum(text) != name {
			t.Errorf("%s holds something else (%v)", o, err)
		}
	}
	ps, err := s.packs()
	if err != nil || len(ps.damaged) > 0 {
		t.Fatalf("damaged packs: %q (%v)", ps.damaged, err)
	}
	defer ps.close()
	for _, p := range ps.list {
		for i := range p.index.len() {
			if _, err := ps.read(p, p.index.record(i), nil); err != nil {
				t.Errorf("record %d of %s: %v", i, p.name, err)
			}
		}
	}
}

func TestKilledAtEachStep(t *testing.T) {
	for _, c := range []struct {
		files int
		at    []step
	}{
		{300, []step{packBegun, packWritten, packNamed, manifestNamed}},
		{few, []step{objectNamed, manifestNamed}},
	} {
		for _, at := range c.at {
			t.Run(fmt.Sprintf("%s, %d files", at, c.files), func(t *testing.T) {
				s, dir := newStore(t), many(t, c.files)
				killedChild(t, s, dir, "once", at)
				whole(t, s)
				list, _ := os.ReadDir(filepath.Join(s.Dir, "manifests"))
				if stored := len(list) == 1; stored != (at == manifestNamed) {
					t.Errorf("%d manifests", len(list))
				}
				prune(t, s) // waste at most
				whole(t, s)
				snap := take(t, s, dir)
				if got, want := listing(t, extract(t, s, snap.ID)), listing(t, dir); !slices.Equal(got, want) {
					t.Error("the copy differs")
				}
			})
		}
	}
}

func TestPruneKilledAtEachStep(t *testing.T) {
	for _, at := range []step{manifestRemoved, packBegun, packWritten, packNamed, packRemoved} {
		t.Run(string(at), func(t *testing.T) {
			s, dir := newStore(t), many(t, 300)
			age(t, s, take(t, s, dir))
			for i := range 200 { // more than half of the pack
				if err := os.Remove(filepath.Join(dir, fmt.Sprintf("d%d", i%50), fmt.Sprintf("f%d.py", i))); err != nil {
					t.Fatal(err)
				}
			}
			young := take(t, s, dir)
			killedChild(t, s, "", "prune", at)
			whole(t, s)
			for range 2 { // before and after the next one
				if got, want := listing(t, extract(t, s, young.ID)), listing(t, dir); !slices.Equal(got, want) {
					t.Error("the copy differs")
				}
				prune(t, s)
			}
			whole(t, s)
			if n := packed(t, s); n != 100 {
				t.Errorf("the packs hold %d files, want 100", n)
			}
		})
	}
}

// killedChild runs a child until it has killed itself.
func killedChild(t *testing.T, s *Store, root, times string, at step) {
	t.Helper()
	cmd, out := startChild(t, s, root, times, childStep+"="+string(at))
	for out.Scan() {
		t.Log(out.Text())
	}
	_ = cmd.Wait()
	if !cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		t.Fatalf("the child ended by itself: %v", cmd.ProcessState)
	}
}

func TestSweep(t *testing.T) {
	s := newStore(t)
	tmp := filepath.Join(s.Dir, "tmp")
	for _, name := range []string{"take-old", "take-young", "take-locked", "other"} {
		write(t, tmp, name+"/1", "half a fi")
	}
	old := time.Now().Add(-2 * settled)
	for _, name := range []string{"take-old", "take-locked", "other"} {
		if err := os.Chtimes(filepath.Join(tmp, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := openLock(filepath.Join(tmp, "take-locked"), syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	take(t, s, sample(t))
	list, err := filepath.Glob(filepath.Join(tmp, "*"))
	for i := range list {
		list[i] = filepath.Base(list[i])
	}
	if want := []string{"other", "take-locked", "take-young"}; err != nil || !slices.Equal(list, want) {
		t.Errorf("tmp holds %q (%v), want %q", list, err, want)
	}
}

// What a power cut may do to files that were not flushed.
func TestDamagedObject(t *testing.T) {
	for _, damage := range []string{"", "print(0)\n", "print(1)\n and more"} {
		s, dir := newStore(t), sample(t)
		snap := take(t, s, dir)
		name := s.object(sum([]byte("print(1)\n")))
		chmod(t, name, 0o600)
		if err := os.WriteFile(name, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		dest := filepath.Join(t.TempDir(), "copy")
		err := s.Extract(context.Background(), snap.ID, dest)
		var e *Error
		if !errors.As(err, &e) || e.Path != "train.py" || !strings.Contains(e.Text, "damaged") {
			t.Errorf("Extract of %q says %v", damage, err)
		}
		empty(t, filepath.Dir(dest))
		take(t, s, dir) // the advice works
		if got, want := listing(t, extract(t, s, snap.ID)), listing(t, dir); !slices.Equal(got, want) {
			t.Error("the copy differs")
		}
	}
}

func TestACutObjectIsWrittenAgain(t *testing.T) {
	s, dir := newStore(t), sample(t)
	snap := take(t, s, dir)
	for _, o := range objects(t, s) {
		chmod(t, o, 0o600)
		if err := os.Truncate(o, 1); err != nil {
			t.Fatal(err)
		}
	}
	take(t, s, dir)
	extract(t, s, snap.ID)
}

func TestDamagedManifest(t *testing.T) {
	s, dir := newStore(t), sample(t)
	snap := take(t, s, dir)
	chmod(t, s.manifest(snap.ID), 0o600)
	write(t, s.Dir, "manifests/"+snap.ID, header)
	if err := s.Extract(context.Background(), snap.ID, filepath.Join(t.TempDir(), "copy")); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("Extract says %v", err)
	}
	if s.Has(snap.ID) {
		t.Error("the damaged manifest is still there")
	}
}

func TestExtractRefusals(t *testing.T) {
	s := newStore(t)
	snap := take(t, s, sample(t))
	there := t.TempDir()
	if err := s.Extract(context.Background(), snap.ID, there); !errors.Is(err, fs.ErrExist) {
		t.Errorf("onto a folder that is there: %v", err)
	}
	for _, id := range []string{aSum, "", "../lock", snap.ID[:6]} {
		if err := s.Extract(context.Background(), id, filepath.Join(there, "x")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("an unknown id %q: %v", id, err)
		}
	}
}
