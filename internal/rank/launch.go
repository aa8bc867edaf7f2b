//go:build linux

package rank

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"muster.dev/muster/internal/engine"
)

// The flavours of MPI.
const (
	anyFlavour = "auto"
	openMPI    = "openmpi"
	mpich      = "mpich"
	intel      = "intel"
)

// programs are the names under which a flavour's launcher may be found.
var programs = map[string][]string{
	anyFlavour: {"mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra"},
	openMPI:    {"mpirun.openmpi", "mpirun", "mpiexec"},
	mpich:      {"mpirun.mpich", "mpirun", "mpiexec", "mpiexec.hydra"},
	intel:      {"mpirun", "mpiexec", "mpiexec.hydra"},
}

// A request is what a job says about its launcher.
type request struct {
	ranks   int
	flavour string
	program string // auto: to be found
	options []string
}

// launch runs mpirun, which starts a stand-in for every rank. It writes the
// line first, so that the launcher's log shows it.
func launch(m *meeting, r request) error {
	path, flavour, err := r.find()
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	hosts := filepath.Join(m.path, "hostfile")
	if err := os.WriteFile(hosts, []byte(hostfile(flavour, r.ranks)), 0o600); err != nil {
		return err
	}
	s := setting{hosts: hosts, tmp: m.path, root: os.Geteuid() == 0, cores: runtime.NumCPU(), boxed: exe == engine.MusterInside}
	args := slices.Concat(line(flavour, r, s), []string{exe, "rank", m.runDir, "join"})
	fmt.Fprintln(os.Stderr, "+", path, strings.Join(args, " "))
	return watch(exec.Command(path, args...))
}

// find returns the launcher and its flavour. One that the job names together
// with its flavour is not asked.
func (r request) find() (path, flavour string, err error) {
	names := []string{r.program}
	if r.program == anyFlavour {
		names = programs[r.flavour]
	} else if r.flavour != anyFlavour {
		path, err := find(r.program)
		return path, r.flavour, err
	}
	var seen []string
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		version, _ := exec.Command(path, "--version").CombinedOutput()
		is := flavourOf(string(version))
		if is != "" && (r.flavour == anyFlavour || r.flavour == is) {
			return path, is, nil
		}
		seen = append(seen, path)
	}
	return "", "", &startError{127, notFound(r.flavour, names, seen)}
}

func notFound(flavour string, names, seen []string) error {
	what := "MPI launcher"
	if flavour != anyFlavour {
		what = flavour + " launcher"
	}
	if len(seen) > 0 {
		return fmt.Errorf("no %s: %s is of another kind (framework.flavour and framework.launcher choose)", what, strings.Join(seen, ", "))
	}
	return fmt.Errorf("no %s in PATH (looked for %s); on Debian: apt-get install openmpi-bin", what, strings.Join(names, ", "))
}

// flavourOf reads what a launcher says of itself; "" when it is unknown.
func flavourOf(version string) string {
	switch {
	case strings.Contains(version, "Open MPI"), strings.Contains(version, "OpenRTE"):
		return openMPI
	case strings.Contains(version, "Intel(R) MPI"):
		return intel
	case strings.Contains(version, "HYDRA"):
		return mpich
	}
	return ""
}

// A setting is what the line depends on besides the job.
type setting struct {
	hosts string // the hostfile
	tmp   string // where files of the launcher go
	root  bool
	cores int
	boxed bool // every rank is in a container of its own
}

// line returns the launcher's arguments. What the job's own options say, ours
// do not say again: launchers take that for a contradiction.
func line(flavour string, r request, s setting) []string {
	n := strconv.Itoa(r.ranks)
	if flavour != openMPI {
		args := []string{"-f", s.hosts, "-n", n}
		if flavour == mpich { // not through a batch system around us
			args = addUnless(args, r.options, "-launcher", "fork")
			args = addUnless(args, r.options, "-rmk", "user")
		}
		return append(args, r.options...)
	}
	args := []string{"--hostfile", s.hosts, "-n", n}
	args = addUnless(args, r.options, "--oversubscribe")
	args = addUnless(args, r.options, "--bind-to", "none") // it would bind the stand-ins
	if s.root {
		args = addUnless(args, r.options, "--allow-run-as-root")
	}
	// In their own places they would outlive an mpirun that is killed.
	for _, place := range []string{"orte_tmpdir_base", "btl_vader_backing_directory"} {
		if !slices.Contains(r.options, place) {
			args = append(args, "--mca", place, s.tmp)
		}
	}
	if s.boxed && !slices.Contains(r.options, singleCopy) {
		args = append(args, "--mca", singleCopy, "none") // one container cannot read the memory of another's processes
	}
	if r.ranks > s.cores && !slices.Contains(r.options, "mpi_yield_when_idle") {
		args = append(args, "--mca", "mpi_yield_when_idle", "1") // ranks that wait would keep others from the cores
	}
	return append(args, r.options...)
}

// singleCopy is how Open MPI moves large messages between processes.
const singleCopy = "btl_vader_single_copy_mechanism"

// addUnless adds an option that the job does not give, with one dash or two.
func addUnless(args, given []string, option ...string) []string {
	name := strings.TrimLeft(option[0], "-")
	if slices.ContainsFunc(given, func(o string) bool { return strings.HasPrefix(o, "-") && strings.TrimLeft(o, "-") == name }) {
		return args
	}
	return append(args, option...)
}

// hostfile gives this machine room for all ranks.
func hostfile(flavour string, ranks int) string {
	if flavour == openMPI {
		return fmt.Sprintf("localhost slots=%d\n", ranks)
	}
	return fmt.Sprintf("localhost:%d\n", ranks)
}
