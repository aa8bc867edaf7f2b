//go:build linux

package frameworks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Two processes in each of two replicas see what torchrun would tell them.
func TestTorchProcessesOfAReplica(t *testing.T) {
	t.Parallel()
	path := need(t, "torch")
	file := filepath.Join(t.TempDir(), "muster.yaml")
	spec := "name: procs\nframework: torch\nworkers: 2\nprocs: 2\nrun: |\n" +
		"  python3 -c 'import torch.distributed as d; d.init_process_group(\"gloo\"); d.barrier(); print(\"rank\", d.get_rank(), \"of\", d.get_world_size())'\n" +
		"  echo local $LOCAL_RANK of $LOCAL_WORLD_SIZE in $GROUP_RANK of $GROUP_WORLD_SIZE\n"
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	o := start(t, path, ".", "-f", file).finish()
	o.succeeded()
	for task, want := range map[string]string{
		"worker-0": "rank 0 of 4; local 0 of 2 in 0 of 2", "worker-1": "rank 1 of 4; local 1 of 2 in 0 of 2",
		"worker-2": "rank 2 of 4; local 0 of 2 in 1 of 2", "worker-3": "rank 3 of 4; local 1 of 2 in 1 of 2",
	} {
		if got := o.printed(task); !slices.Equal(got, strings.Split(want, "; ")) {
			t.Errorf("%s printed %q, want %q", task, got, want)
		}
	}
}
