package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store/storetest"
)

// writerEnv makes the test binary a writer into the store that it names.
const writerEnv = "MUSTER_TEST_WRITE_TO"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		fmt.Fprintln(os.Stderr, write(path, os.Args[len(os.Args)-1]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// write creates and updates runs until it is killed, and tells on stdout what
// has been acknowledged: the run and its revision.
func write(path, name string) error {
	s, err := Open(path, Options{})
	if err != nil {
		return err
	}
	ctx := context.Background()
	for n := 0; ; n++ {
		r := storetest.Sample(n, name)
		if err := s.Create(ctx, r); err != nil {
			return err
		}
		fmt.Println(r.ID, r.Rev)
		for _, p := range []run.Phase{run.Starting, run.Running, run.Ending, run.Failed} {
			r, err := s.Update(ctx, r.ID, func(r *run.Run) error { r.Phase = p; return nil })
			if err != nil {
				return err
			}
			fmt.Println(r.ID, r.Rev)
		}
	}
}

// harvest starts a writer, kills it once it has told of enough, and returns all
// it told of: what is in the pipe was acknowledged before its death.
func harvest(t *testing.T, path, name string, enough int) map[string]int64 {
	told := map[string]int64{}
	cmd := exec.CommandContext(t.Context(), os.Args[0], name)
	cmd.Env = append(os.Environ(), writerEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return told
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return told
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		var id string
		var rev int64
		if _, err := fmt.Sscan(lines.Text(), &id, &rev); err != nil {
			break // it died in the middle of a line
		}
		told[id] = max(told[id], rev)
		if n == enough {
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.Success() {
		t.Errorf("writer %s ended by itself: %v", name, err)
	}
	if len(told) == 0 {
		t.Errorf("writer %s wrote nothing", name)
	}
	return told
}

// An acknowledged write survives kill -9 of the writer, whatever it was doing,
// and the others go on.
func TestKilledWritersLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	const rounds, writers = 3, 4
	told := make([]map[string]int64, rounds*writers)
	for round := range rounds {
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				n := round*writers + i
				told[n] = harvest(t, path, fmt.Sprintf("w%d", n), 40+17*i+5*round)
			})
		}
		wg.Wait()
	}
	s, total := open(t, path), int64(0)
	if v := s.pragma(t, "integrity_check"); v != "ok" {
		t.Errorf("the file is damaged: %s", v)
	}
	for _, m := range told {
		for id, rev := range m {
			total += rev
			if r, err := s.Get(t.Context(), id); err != nil || r.Rev < rev {
				t.Errorf("%s: acknowledged rev %d, stored %d, %v", id, rev, r.Rev, err)
			}
		}
	}
	t.Logf("%d writers killed, %d acknowledged writes", rounds*writers, total)
}

// Users of one file do not lose each other's updates. Two handles meet at the
// same locks as two processes do.
func TestHandlesShareARun(t *testing.T) {
	for kind, open := range map[Kind]func(*testing.T, string) *Store{
		Local:   func(t *testing.T, path string) *Store { return open(t, path) },
		Network: remote,
	} {
		t.Run(string(kind), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.db")
			share(t, open(t, path), open(t, path))
		})
	}
}

func share(t *testing.T, stores ...*Store) {
	if err := stores[0].Create(t.Context(), storetest.Sample(1, "a")); err != nil {
		t.Fatal(err)
	}
	const each = 50
	var wg sync.WaitGroup
	for _, s := range stores {
		wg.Go(func() {
			for range each {
				if _, err := s.Update(t.Context(), "a-00001", func(r *run.Run) error { r.Restarts++; return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if r, err := stores[0].Get(t.Context(), "a"); err != nil || r.Restarts != each*len(stores) {
		t.Errorf("%d updates counted %d, %v", each*len(stores), r.Restarts, err)
	}
}
