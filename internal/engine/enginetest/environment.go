//go:build linux

package enginetest

import (
	"embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

var update = flag.Bool("update", false, "write the golden files")

//go:embed testdata
var testdata embed.FS

func mxnetEnvironment(b *bench) {
	b.environment("mxnet", sizes{"server": 2, "worker": 3})
}

func torchEnvironment(b *bench) {
	b.environment("torch", sizes{"worker": 3})
}

// environment compares everything that the tasks' processes see with a golden
// file. What they would inherit from us is a known few, and what belongs to
// another gang.
func (b *bench) environment(framework string, roles sizes) {
	spec := b.job(framework, roles, "env=*")
	for _, r := range spec.Roles {
		r.Env = map[string]string{"OMP_NUM_THREADS": "1"} // the same on every machine
	}
	s := b.submitWith(spec, []string{
		"PATH=/usr/bin:/bin", "OMP_NUM_THREADS=7", "DMLC_ROLE=worker", "RANK=9", "PORT=1", "MUSTER_TASK=other-7", "PYTHONPATH=/mine",
	})
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	b.wantPorts(r)
	hide := []string{s.dir, "$RUN_DIR", r.ID, "$RUN", r.Spec.Name, "$JOB"}
	for _, t := range r.Tasks {
		for _, p := range t.Ports {
			hide = append(hide, "="+strconv.Itoa(p), fmt.Sprintf("=$PORT_OF_%s", t.Task))
		}
	}
	var text strings.Builder
	for _, t := range r.Tasks {
		fmt.Fprintf(&text, "%s at %s\n", t.Task, t.Addr)
		for line := range strings.Lines(s.logs()[t.Task.String()+" stdout"]) {
			if !b.o.Containers.own(line) {
				text.WriteString("  " + line)
			}
		}
	}
	b.golden(b.o.Containers.golden(framework)+".golden", strings.NewReplacer(hide...).Replace(text.String()))
}

// wantPorts checks that a role's ports ascend with the index, across roles
// differ, and are where the tasks listen.
func (b *bench) wantPorts(r run.Run) {
	b.Helper()
	var seen []int
	last := map[string]engine.Instance{}
	for _, t := range r.Tasks {
		before, ok := last[t.Task.Role]
		if ok && len(t.Ports) > 0 && len(before.Ports) > 0 && slices.Max(before.Ports) >= slices.Min(t.Ports) {
			b.Errorf("%s has %v, %s has %v", before.Task, before.Ports, t.Task, t.Ports)
		}
		last[t.Task.Role] = t
		seen = append(seen, t.Ports...)
	}
	if slices.Sort(seen); len(slices.Compact(slices.Clone(seen))) != len(seen) || len(seen) == 0 {
		b.Errorf("ports %v", seen)
	}
}

// golden compares text with a file; with -update it becomes the file.
func (b *bench) golden(name, text string) {
	b.Helper()
	if *update {
		_, here, _, _ := runtime.Caller(0)
		if err := os.WriteFile(filepath.Join(filepath.Dir(here), "testdata", name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		return
	}
	want, err := testdata.ReadFile("testdata/" + name)
	if err != nil {
		b.Fatal(err)
	}
	if text != string(want) {
		b.Errorf("%s (run with -update to accept):\n%s", name, text)
	}
}

// joined holds one rank back and looks who is said to have joined.
func joined(b *bench) {
	s := b.submit(b.job("torch", sizes{"worker": 3}, "only=worker-1", "wait="+b.path("go"), "join", "wait="+b.path("end")))
	has := func(r run.Run, index int, want bool) bool {
		i := slices.IndexFunc(r.Tasks, func(i engine.Instance) bool { return i.Task == job.Task{Role: "worker", Index: index} })
		return i >= 0 && r.Tasks[i].State == engine.Running && r.Tasks[i].Joined == want
	}
	s.until("two that have joined", func(r run.Run) bool { return has(r, 0, true) && has(r, 1, false) && has(r, 2, true) })
	b.touch("go")
	s.until("three that have joined", func(r run.Run) bool { return has(r, 0, true) && has(r, 1, true) && has(r, 2, true) })
	b.touch("end")
	b.want(s.end(), run.Succeeded, 0, "task")
}
