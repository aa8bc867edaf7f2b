//go:build linux

package frameworks

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/test/containers"
)

// A boxedPi is the MPI example with every rank, and mpirun, in a container. The
// image has next to nothing: this machine's MPI and Python are mounted into it.
type boxedPi struct {
	*trial
	runtime *containers.Runtime
}

func computeBoxedPi(t *testing.T, r *containers.Runtime, flavour string, args ...string) boxedPi {
	t.Helper()
	return boxed(t, r, flavour, filepath.Join(pi, "pi.py"), args...)
}

// boxed runs a script as two ranks in containers.
func boxed(t *testing.T, r *containers.Runtime, flavour, script string, args ...string) boxedPi {
	t.Helper()
	path := need(t, "mpi")
	script, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(script)
	spec := fmt.Sprintf("name: pi\nframework: {name: mpi, flavour: %s}\nworkers: 2\nimage: {name: %s, pull: never}\ncommand: [%s/python, %s]\nvolumes:\n",
		flavour, containers.Image, path, strings.Join(append([]string{script}, args...), ", "))
	prefix, err := exec.Command(filepath.Join(path, "python"), "-c", "import sys; print(sys.base_prefix, end='')").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, seen := range slices.Compact([]string{"/usr", string(prefix), "/etc/alternatives", "/etc/openmpi", filepath.Dir(path), dir}) {
		spec += fmt.Sprintf("  - %s:%s:ro\n", seen, seen)
	}
	if flavour == "mpich" {
		spec += "env: {LD_LIBRARY_PATH: " + filepath.Join(filepath.Dir(path), "mpich") + "}\n"
	}
	file := filepath.Join(t.TempDir(), "muster.yaml")
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	return boxedPi{start(t, path, ".", "-f", file), r}
}

// finish also looks for containers.
func (b boxedPi) finish() outcome {
	b.t.Helper()
	o := b.trial.finish()
	if left := b.runtime.Left(o.run.ID); len(left) > 0 {
		b.t.Errorf("left behind: %q", left)
	}
	return o
}

func TestMPIInContainersOnPodman(t *testing.T) { mpiInContainers(t, containers.Start(t, "podman")) }

func TestMPIInContainersOnDocker(t *testing.T) { mpiInContainers(t, containers.Start(t, "docker")) }

func mpiInContainers(t *testing.T, r *containers.Runtime) {
	for flavour, vendor := range vendors {
		t.Run(flavour, func(t *testing.T) {
			t.Run("ranks are tasks", func(t *testing.T) {
				o := computeBoxedPi(t, r, flavour, "--rounds", "2").finish()
				o.succeeded()
				for i := range 2 {
					want := []string{fmt.Sprintf("rank %d of 2 under %s", i, vendor), "round 0  pi 3.1415926536", "round 1  pi 3.1415926536"}
					if got := o.printed(fmt.Sprintf("worker-%d", i)); !slices.Equal(got, want) {
						t.Errorf("worker-%d printed %q, want %q", i, got, want)
					}
				}
			})
			for _, tt := range []struct {
				how  string
				exit int
				what string
			}{
				{"kill", 137, "was killed from outside (SIGKILL)"},
				{"exit", 3, "exited with code 3"},
				{"abort", 7, "exited with code 7"},
				{"raise", 1, "raised ValueError: this share does not add up"},
			} {
				t.Run(tt.how, func(t *testing.T) {
					computeBoxedPi(t, r, flavour, "--rounds", "3", "--fail", tt.how).finish().failed(tt.exit, "worker-1", tt.what)
				})
			}
			t.Run("memory is shared", func(t *testing.T) {
				o := boxed(t, r, flavour, "testdata/memory.py").finish()
				o.succeeded()
				for i := range 2 {
					if got := o.printed(fmt.Sprintf("worker-%d", i)); !slices.Equal(got, []string{"all of it"}) {
						t.Errorf("worker-%d printed %q", i, got)
					}
				}
			})
			t.Run("killed from outside", func(t *testing.T) { boxedRankIsKilled(t, r, flavour) })
			t.Run("stopped", func(t *testing.T) { boxedRanksAreStopped(t, r, flavour) })
		})
	}
}

func boxedRankIsKilled(t *testing.T, r *containers.Runtime, flavour string) {
	b := computeBoxedPi(t, r, flavour, "--rounds", "10000", "--slow", "0.2")
	b.await("worker-0", "round 1 ")
	var now run.Run
	b.ask(&now, "get", "-o", "json")
	for _, i := range now.Tasks {
		if i.Task.String() == "worker-0" {
			if err := syscall.Kill(i.Pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	o := b.finish()
	o.failed(137, "worker-0", "was killed from outside (SIGKILL)")
	if n := len(o.run.Verdict.First.Then); n != 2 {
		t.Errorf("%d tasks were ended because of it, want 2", n)
	}
}

func boxedRanksAreStopped(t *testing.T, r *containers.Runtime, flavour string) {
	b := computeBoxedPi(t, r, flavour, "--rounds", "10000", "--slow", "0.2")
	b.await("worker-1", "round 1 ")
	stop := exec.Command(binary, "stop", "pi")
	stop.Env = b.env
	if out, err := stop.CombinedOutput(); err != nil {
		t.Fatalf("muster stop: %v: %s", err, out)
	}
	if o := b.finish(); o.run.Phase != run.Stopped || o.exit != 143 {
		t.Errorf("it is %s, with code %d", o.run.Phase, o.exit)
	}
}
