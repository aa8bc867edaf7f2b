//go:build linux

package script

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	taskhost "muster.dev/muster/internal/taskhost/process"
)

var (
	update = flag.Bool("update", false, "write what commands say now into the scripts")
	given  = flag.String("binaries", "", "folder of a muster and a trainer to test instead of new ones")
)

// binaries is the folder of the muster and the trainer that the scripts run.
var binaries string

func TestMain(m *testing.M) {
	flag.Parse()
	// Scripts wait far more than they compute.
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8")
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	if binaries = *given; binaries != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "muster-script-")
	if err == nil {
		defer os.RemoveAll(dir)
		binaries = dir
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build makes both programs, as they are released: static.
func build(dir string) error {
	if err := os.Chmod(dir, 0o755); err != nil { // other users run them too
		return err
	}
	for name, pkg := range map[string]string{"muster": "muster.dev/muster/cmd/muster", "trainer": "muster.dev/muster/test/trainer"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return nil
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", Setup: setup, Condition: condition, UpdateScripts: *update, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "start": start, "signal": signal, "ended": ended, "await": await, "until": until,
			"capture": capture, "scrub": scrub, "alone": alone, "alive": alive, "private": private, "tmpfs": tmpfs,
			"deep": deep, "jsonpath": jsonPath,
		},
	})
}

// setup gives a script its own state, home and programs, and looks at its end
// for what it has left behind.
func setup(e *testscript.Env) error {
	// Scripts also act as other users, who must get to their files.
	for _, dir := range []string{filepath.Dir(e.WorkDir), e.WorkDir} {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	e.Setenv("PATH", binaries+":"+os.Getenv("PATH"))
	e.Setenv("HOME", filepath.Join(e.WorkDir, ".home"))
	e.Setenv("MUSTER_STATE_DIR", filepath.Join(e.WorkDir, "state"))
	e.Setenv("TZ", "UTC")
	s := &scene{work: e.WorkDir, started: map[string]*process{}}
	e.Values[sceneKey{}] = s
	e.Defer(func() {
		s.killStarted()
		if left := s.leftovers(); len(left) > 0 {
			e.T().Log(fmt.Sprintf("left behind: %q", left))
			e.T().FailNow()
		}
	})
	return nil
}

func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "cgroups":
		return taskhost.CgroupRoot() != "", nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}
