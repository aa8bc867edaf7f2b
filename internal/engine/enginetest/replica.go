//go:build linux

package enginetest

import (
	"fmt"
	"os"
	"strings"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// replicas is a job of two replicas with two processes each. In containers every
// process is set up by itself.
func (b *bench) replicas(steps ...string) job.Spec {
	spec := b.job("torch", sizes{"worker": 2}, steps...)
	spec.Roles["worker"].Procs = "2"
	return spec
}

// oncePerReplica has each process look whether its replica is set up and not
// torn down, and the first replica fail.
func oncePerReplica(b *bench) {
	spec := b.replicas()
	role := spec.Roles["worker"]
	role.Command = nil
	role.Setup = fmt.Sprintf("sleep 0.1; mkdir %[1]s/replica-$((MUSTER_TASK_INDEX / 2)) 2>%[1]s/again.$MUSTER_TASK || exit 9", b.work)
	role.Run = fmt.Sprintf(`cd %[1]s/replica-$((MUSTER_TASK_INDEX / 2)); touch ../up.$MUSTER_TASK
for i in 0 1 2 3; do while [ ! -e ../up.worker-$i ]; do sleep 0.02; done; done
if [ $MUSTER_TASK_INDEX = 0 ]; then exit 7; fi
exec %[2]s forever`, b.work, Binary("trainer"))
	role.Teardown = fmt.Sprintf("rmdir %[1]s/replica-$((MUSTER_TASK_INDEX / 2)); echo $((MUSTER_TASK_INDEX / 2)) ended with $MUSTER_EXIT_CODE >>%[1]s/codes", b.work)
	if b.o.Containers != nil {
		role.Setup, role.Teardown = strings.ReplaceAll(role.Setup, " / 2", ""), strings.ReplaceAll(role.Teardown, " / 2", "")
		role.Run = strings.ReplaceAll(role.Run, " / 2", "")
	}
	r := b.try(spec)
	b.want(r, run.Failed, 7, "task")
	b.wantFirst(r, "worker-0", "exited with code 7")
	if b.o.Containers != nil {
		b.wantCodes(map[string]int{"0": 7, "1": 143, "2": 143, "3": 143})
		return
	}
	b.wantCodes(map[string]int{"0": 7, "1": 143})
}

func setupFailsForAll(b *bench) {
	spec := b.replicas("touch="+b.path("started"), "forever")
	spec.Roles["worker"].Setup = "exit 9"
	spec.Roles["worker"].Teardown = b.codes()
	r := b.try(spec)
	b.want(r, run.Failed, 9, "task")
	if f := r.Verdict.First; f.Task == nil || f.What != "could not be started: its setup failed with code 9" {
		b.Errorf("%s", r.Verdict.Headline)
	}
	if _, err := os.Stat(b.path("started")); err == nil {
		b.Error("a process was started although its replica was not set up")
	}
	if n := b.lines("codes", "ended with 9"); b.o.Containers == nil && n < 1 {
		b.Errorf("%d teardowns", n)
	}
}
