package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"muster.dev/muster/internal/control"
	"muster.dev/muster/internal/engine/local"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/rank"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store/sqlite"
	"muster.dev/muster/internal/taskhost"
	"muster.dev/muster/internal/taskhost/container"
)

// internalCommand carries out what muster starts itself as.
func internalCommand(args []string) (code int, ours bool) {
	if len(args) == 0 {
		return 0, false
	}
	switch args[0] {
	case "taskhost":
		return taskhost.Main(args[1:]), true
	case "own":
		return own(args[1:]), true
	case "rank":
		return rank.Main(args[1:]), true
	case container.InitCommand:
		return container.Main(args[1:]), true
	}
	return 0, false
}

// openPlane returns the service of this machine.
func (a *app) openPlane() (run.Service, error) {
	dir, err := stateDir(a.env)
	if err != nil {
		return nil, err
	}
	return newPlane(dir, a.env)
}

func newPlane(dir string, env func(string) string) (*control.Plane, error) {
	c, err := readConfig(env)
	if err != nil {
		return nil, err
	}
	if err := makeStateDir(dir); err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	st, err := sqlite.Open(filepath.Join(dir, "muster.db"), sqlite.Options{Version: version()})
	if err != nil {
		return nil, err
	}
	return control.New(control.Config{StateDir: dir, Store: st, Exe: exe, Engine: local.New(local.Config{Exe: exe, Alone: true, Slots: c.Slots, GPUs: c.GPUs})}), nil
}

// own is the owner of a detached run: "muster own RUNDIR [take]". With take it
// takes the run from an owner that does not answer.
func own(args []string) int {
	if len(args) < 1 {
		fmt.Fprintln(os.Stderr, "muster own is started by muster itself")
		return exitUsage
	}
	p, err := newPlane(filepath.Dir(filepath.Dir(args[0])), os.Getenv)
	if err == nil {
		err = p.Own(context.Background(), filepath.Base(args[0]), len(args) > 1 && args[1] == "take")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "muster own:", err)
		if problem.KindOf(err) == problem.Conflict {
			return 0 // it has an owner, which is all we want
		}
		return exitError
	}
	return 0
}
