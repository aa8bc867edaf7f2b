//go:build linux

package chaos

import (
	"bytes"
	"context"
	"encoding/json"
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

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store/sqlite"
)

// patience is how long anything may take on a busy machine before the tests
// call it hung.
const patience = 90 * time.Second

// A bed is a state directory, and a user whose runs are in it.
type bed struct {
	dir   string // holds the state directory and what the trainers write
	user  int    // 0: ours
	env   []string
	store *sqlite.Store
}

// newBed makes a bed below dir.
func newBed(dir string, user int) (*bed, error) {
	b := &bed{dir: dir, user: user}
	if err := os.MkdirAll(b.state(), 0o700); err != nil {
		return nil, err
	}
	if user != 0 {
		for _, d := range []string{b.dir, b.state()} {
			if err := os.Chown(d, user, user); err != nil {
				return nil, err
			}
		}
	}
	// Made by muster, so that all of it belongs to the bed's user.
	if out, err := b.command(context.Background(), "ps").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("muster ps: %w: %s", err, out)
	}
	var err error
	b.store, err = sqlite.Open(filepath.Join(b.state(), "muster.db"), sqlite.Options{})
	return b, err
}

// testBed is a bed for one test.
func testBed(t *testing.T) *bed {
	t.Helper()
	b, err := newBed(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.end()
		_ = b.close()
	})
	return b
}

func (b *bed) close() error { return b.store.Close() }

func (b *bed) state() string { return filepath.Join(b.dir, "state") }

func (b *bed) runDir(id string) string { return filepath.Join(b.state(), "runs", id) }

// command is a muster command of the bed's user.
func (b *bed) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, musterExe, args...)
	cmd.Dir = b.dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "MUSTER_") }),
		"MUSTER_STATE_DIR="+b.state(), "HOME="+b.dir)
	cmd.Env = append(cmd.Env, b.env...)
	cmd.WaitDelay = time.Second
	if b.user != 0 {
		id := uint32(b.user)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	}
	return cmd
}

// muster runs a command to its end and returns its exit code and all it said.
func (b *bed) muster(args ...string) (int, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := b.command(ctx, args...).CombinedOutput()
	var ee *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, "", fmt.Errorf("muster %s hangs: %s", strings.Join(args, " "), out)
	case errors.As(err, &ee):
		return ee.ExitCode(), string(out), nil
	}
	return 0, string(out), err
}

// read returns the newest run of a job as it is stored, and asks nobody: no
// muster command looks after the run meanwhile.
func (b *bed) read(name string) (run.Run, bool, error) {
	r, err := b.store.Get(context.Background(), name)
	if problem.KindOf(err) == problem.NotFound {
		return r, false, nil
	}
	return r, err == nil, err
}

// record is where a job's trainers write down what they do.
func (b *bed) record(name string) string { return filepath.Join(b.dir, name+".events") }

// events returns what a job's trainers wrote down.
func (b *bed) events(name string) ([]Event, error) {
	data, err := os.ReadFile(b.record(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Event
	for line := range bytes.Lines(data) {
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", b.record(name), line, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// await asks until the answer is yes, an error, or too late.
func await(what string, limit time.Duration, ask func() (bool, error)) error {
	for begin := time.Now(); ; {
		yes, err := ask()
		if yes || err != nil {
			return err
		}
		if time.Since(begin) > limit {
			return fmt.Errorf("%s: not within %v", what, limit)
		}
		<-time.After(5 * time.Millisecond)
	}
}
