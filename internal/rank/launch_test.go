//go:build linux

package rank

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		name    string
		flavour string
		request request
		setting setting
		want    string
	}{
		{"Open MPI", openMPI, request{ranks: 2}, setting{"H", "T", false, 2, false},
			"--hostfile H -n 2 --oversubscribe --bind-to none --mca orte_tmpdir_base T --mca btl_vader_backing_directory T"},
		{"Open MPI as root, with more ranks than cores", openMPI, request{ranks: 3}, setting{"H", "T", true, 2, false},
			"--hostfile H -n 3 --oversubscribe --bind-to none --allow-run-as-root --mca orte_tmpdir_base T" +
				" --mca btl_vader_backing_directory T --mca mpi_yield_when_idle 1"},
		{"what the job says is not said twice", openMPI,
			request{ranks: 3, options: strings.Fields("-bind-to core --mca orte_tmpdir_base /t --mca mpi_yield_when_idle 0 -x A=1")}, setting{"H", "T", false, 2, false},
			"--hostfile H -n 3 --oversubscribe --mca btl_vader_backing_directory T -bind-to core --mca orte_tmpdir_base /t --mca mpi_yield_when_idle 0 -x A=1"},
		{"Open MPI in containers", openMPI, request{ranks: 2}, setting{"H", "T", false, 2, true},
			"--hostfile H -n 2 --oversubscribe --bind-to none --mca orte_tmpdir_base T --mca btl_vader_backing_directory T" +
				" --mca btl_vader_single_copy_mechanism none"},
		{"MPICH", mpich, request{ranks: 4, options: []string{"-l"}}, setting{"H", "T", true, 2, false},
			"-f H -n 4 -launcher fork -rmk user -l"},
		{"MPICH through another launcher", mpich, request{ranks: 4, options: []string{"-launcher", "ssh"}}, setting{"H", "T", true, 2, false},
			"-f H -n 4 -rmk user -launcher ssh"},
		{"Intel", intel, request{ranks: 4}, setting{"H", "T", true, 2, false}, "-f H -n 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(line(tt.flavour, tt.request, tt.setting), " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestHostfile(t *testing.T) {
	if got := hostfile(openMPI, 3); got != "localhost slots=3\n" {
		t.Errorf("Open MPI's is %q", got)
	}
	if got := hostfile(mpich, 3); got != "localhost:3\n" {
		t.Errorf("MPICH's is %q", got)
	}
}

func TestFindTheLauncher(t *testing.T) {
	open, hydra, other := "mpirun (Open MPI) 4.1.4", "HYDRA build details:\n    Version: 4.0.2", "GNU parallel 1"
	for _, tt := range []struct {
		name    string
		have    map[string]string // programs and their version
		request request
		program string
		flavour string
		err     string
	}{
		{"whatever is there", map[string]string{"mpirun": open}, request{flavour: "auto", program: "auto"}, "mpirun", openMPI, ""},
		{"the one asked for, not the first", map[string]string{"mpirun": open, "mpirun.mpich": hydra}, request{flavour: mpich, program: "auto"}, "mpirun.mpich", mpich, ""},
		{"under a name of its own", map[string]string{"myrun": hydra}, request{flavour: "auto", program: "myrun"}, "myrun", mpich, ""},
		{"taken at its word", map[string]string{"myrun": other}, request{flavour: openMPI, program: "myrun"}, "myrun", openMPI, ""},
		{"strangers are passed over", map[string]string{"mpirun": other, "mpiexec": hydra}, request{flavour: "auto", program: "auto"}, "mpiexec", mpich, ""},
		{"Intel's", map[string]string{"mpirun": "Intel(R) MPI Library for Linux* OS"}, request{flavour: "auto", program: "auto"}, "mpirun", intel, ""},
		{"none", nil, request{flavour: "auto", program: "auto"}, "", "", "no MPI launcher in PATH (looked for mpirun, mpiexec,"},
		{"only another", map[string]string{"mpirun": open}, request{flavour: mpich, program: "auto"}, "", "", "mpirun is of another kind"},
		{"not there", nil, request{flavour: openMPI, program: "myrun"}, "", "", "myrun"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, version := range tt.have {
				script := "#!/bin/sh\necho '" + version + "'\n"
				if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir)
			path, flavour, err := tt.request.find()
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil || path != filepath.Join(dir, tt.program) || flavour != tt.flavour {
				t.Errorf("got %s, %s, %v", path, flavour, err)
			}
		})
	}
}
