//go:build linux

package frameworks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	pi      = root + "/examples/mpi-pi"
	chainer = root + "/examples/chainer-mpi"
)

// computePi runs the MPI example as two ranks of a flavour.
func computePi(t *testing.T, flavour string, args ...string) *trial {
	t.Helper()
	path := need(t, "mpi")
	script, err := filepath.Abs(filepath.Join(pi, "pi.py"))
	if err != nil {
		t.Fatal(err)
	}
	spec := fmt.Sprintf("name: pi\nframework: {name: mpi, flavour: %s}\nworkers: 2\ncommand: [python, %s]\n", flavour, strings.Join(append([]string{script}, args...), ", "))
	if flavour == "mpich" { // see scripts/framework-env
		spec += "env: {LD_LIBRARY_PATH: " + filepath.Join(filepath.Dir(path), "mpich") + "}\n"
	}
	file := filepath.Join(t.TempDir(), "muster.yaml")
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, path, ".", "-f", file)
}

// vendors are what the MPI libraries call themselves.
var vendors = map[string]string{"openmpi": "Open MPI", "mpich": "MPICH"}

// eachFlavour runs a test with each of the MPIs.
func eachFlavour(t *testing.T, test func(t *testing.T, flavour string)) {
	for flavour := range vendors {
		t.Run(flavour, func(t *testing.T) {
			t.Parallel()
			test(t, flavour)
		})
	}
}

func TestMPIRanksAreTasks(t *testing.T) {
	eachFlavour(t, func(t *testing.T, flavour string) {
		o := computePi(t, flavour).finish()
		o.succeeded()
		for i := range 2 {
			want := []string{fmt.Sprintf("rank %d of 2 under %s", i, vendors[flavour]), "round 0  pi 3.1415926536"}
			if got := o.printed(fmt.Sprintf("worker-%d", i)); !slices.Equal(got, want) {
				t.Errorf("worker-%d printed %q, want %q", i, got, want)
			}
		}
		if want := "launcher-0 and both workers finished"; o.run.Verdict.Headline != want {
			t.Errorf("verdict: %s; want %s", o.run.Verdict.Headline, want)
		}
		if _, err := os.Stat(filepath.Join(o.run.Origin.RunDir, "ranks")); !os.IsNotExist(err) {
			t.Errorf("where the ranks met is still there: %v", err)
		}
	})
}

// Left to itself mpirun says that some rank is gone, a second later, and a rank
// that has raised waits for the others for ever.
func TestMPIRankFails(t *testing.T) {
	for _, tt := range []struct {
		how  string
		exit int
		what string
	}{
		{"kill", 137, "was killed from outside (SIGKILL)"},
		{"exit", 3, "exited with code 3"},
		{"abort", 7, "exited with code 7"},
	} {
		t.Run(tt.how, func(t *testing.T) {
			eachFlavour(t, func(t *testing.T, flavour string) {
				computePi(t, flavour, "--rounds", "3", "--fail", tt.how).finish().failed(tt.exit, "worker-1", tt.what)
			})
		})
	}
}

func TestMPIRankRaises(t *testing.T) {
	eachFlavour(t, func(t *testing.T, flavour string) {
		o := computePi(t, flavour, "--rounds", "3", "--fail", "raise").finish()
		i := o.failed(1, "worker-1", "raised ValueError: this share does not add up")
		o.raisedAndHung(i)
		if end := o.ending("worker-1"); !strings.HasSuffix(end, "ValueError: this share does not add up") {
			t.Errorf("its end:\n%s\nwant the traceback", end)
		}
	})
}

// From outside, in the middle of the work: the launcher must not be blamed.
func TestMPIRankIsKilled(t *testing.T) {
	eachFlavour(t, func(t *testing.T, flavour string) {
		tr := computePi(t, flavour, "--rounds", "10000", "--slow", "0.2")
		tr.await("worker-0", "round 1 ")
		tr.kill("worker-0")
		o := tr.finish()
		o.failed(137, "worker-0", "was killed from outside (SIGKILL)")
		if n := len(o.run.Verdict.First.Then); n != 2 {
			t.Errorf("%d tasks were ended because of it, want 2", n)
		}
	})
}
