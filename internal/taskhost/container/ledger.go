//go:build linux

package container

import (
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
	"time"

	"muster.dev/muster/internal/engine"
)

// Dir is the folder of a run that holds what its containers need and the
// ledger: one file for each container, written before it is made and removed
// when it is gone.
func Dir(runDir string) string { return filepath.Join(runDir, "containers") }

// SocketName is where, in that folder, the task host listens to containers.
const SocketName = "host.sock"

const (
	entrySuffix = ".made"
	envSuffix   = ".env"
)

// EnvFile is where the variables of a container are kept while it lives.
func EnvFile(runDir, name string) string { return filepath.Join(Dir(runDir), name+envSuffix) }

// Enter notes that a container is about to be made.
func Enter(runDir, name string, r engine.Runtime) error {
	if err := os.MkdirAll(Dir(runDir), 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(Dir(runDir), name+entrySuffix), b, 0o600)
}

// Strike takes a container that is gone off the ledger.
func Strike(runDir, name string) {
	_ = os.Remove(EnvFile(runDir, name))
	_ = os.Remove(filepath.Join(Dir(runDir), name+entrySuffix))
}

// removeWithin bounds one command of a runtime.
const removeWithin = time.Minute

// Sweep removes every container that the ledger of a run still has, and those
// with the run's label: what was on its way when its maker was killed. Then no
// process of theirs is left.
func Sweep(runDir, run string) error {
	entries, err := os.ReadDir(Dir(runDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := sweepLogins(runDir); err != nil {
		return err
	}
	runtimes, names := read(runDir, entries)
	awaitMakers(names, makersEnd)
	if err := sweepAll(runtimes, run); err != nil {
		return err
	}
	if len(makers(names)) > 0 {
		if err := errors.Join(endMakers(names), sweepAll(runtimes, run)); err != nil {
			return err
		}
	}
	for _, name := range names {
		Strike(runDir, name)
	}
	return nil
}

// read returns the containers that a ledger has, and the runtimes that have them.
func read(runDir string, entries []fs.DirEntry) (runtimes map[string]engine.Runtime, names []string) {
	runtimes = map[string]engine.Runtime{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), entrySuffix)
		if !ok {
			continue
		}
		var r engine.Runtime
		b, err := os.ReadFile(filepath.Join(Dir(runDir), e.Name()))
		if err == nil {
			err = json.Unmarshal(b, &r)
		}
		if err != nil {
			_ = os.Remove(filepath.Join(Dir(runDir), e.Name())) // cut short: nothing was made after it
			continue
		}
		runtimes[r.Path] = r
		names = append(names, name)
	}
	return runtimes, names
}

func sweepAll(runtimes map[string]engine.Runtime, run string) error {
	for _, r := range runtimes {
		if err := sweep(r, run); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes the containers of a run that one runtime has, until it has none:
// some may be on their way out already, which a runtime refuses to help.
func sweep(r engine.Runtime, run string) error {
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		out, stderr, err := ask(r, "ps", "--all", "--quiet", "--filter", "label="+runLabel+run)
		if err != nil {
			return fmt.Errorf("ask %s for the containers of %s: %s", r.Kind, run, Complaint(stderr))
		}
		ids := strings.Fields(out)
		if len(ids) == 0 {
			return nil
		}
		for _, id := range ids {
			if _, stderr, err = ask(r, RemoveCommand(r, id)[1:]...); !Gone(err == nil, stderr) && time.Since(begin) > removeWithin {
				return fmt.Errorf("remove the container %s of %s: %s", id, run, Complaint(stderr))
			}
		}
	}
}

// ask runs a command of a runtime.
func ask(r engine.Runtime, args ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), removeWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.Path, args...)
	cmd.Env = slices.Clone(r.Env)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	return out.String(), errs.String(), err
}
