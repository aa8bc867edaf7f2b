package rendezvous

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

var update = flag.Bool("update", false, "write the golden files")

// TestLaunch gives each job of testdata its cluster and compares all that its
// tasks are told with the golden file beside it.
func TestLaunch(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no jobs in testdata (%v)", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".json")
		t.Run(filepath.Base(name), func(t *testing.T) {
			compare(t, name+".golden", launchAll(t, file))
		})
	}
}

// launchAll writes what every task of the job in file gets.
func launchAll(t *testing.T, file string) []byte {
	var in struct {
		Spec    job.Spec
		Cluster Cluster
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		t.Fatal(err)
	}
	f, err := ByName(in.Spec.Framework.Name)
	if err != nil {
		t.Fatal(err)
	}
	Complete(&in.Spec)
	if err := f.Check(&in.Spec).Err(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, task := range in.Spec.Tasks() {
		if want := f.Ports(&in.Spec, task); want != len(in.Cluster[task].Ports) {
			t.Errorf("%s needs %d ports and the cluster has %d", task, want, len(in.Cluster[task].Ports))
		}
		plan, err := f.Launch(&in.Spec, in.Cluster, task)
		if err != nil {
			t.Fatal(err)
		}
		write(&out, in.Spec.Roles[task.Role], task, plan)
	}
	return out.Bytes()
}

func write(out *bytes.Buffer, role *job.Role, task job.Task, plan Plan) {
	fmt.Fprintf(out, "%s joined: %s\n", task, evidence(plan.Joined))
	if hasCommand(role) {
		fmt.Fprintf(out, "  runs: %s\n", strings.TrimSpace(role.Run+" "+strings.Join(slices.Concat(role.Command, role.Args), " ")))
	}
	if plan.Rank != nil {
		fmt.Fprintf(out, "  through: muster rank %s\n", strings.Join(plan.Rank, " "))
	}
	if plan.Sees != nil {
		fmt.Fprintf(out, "  sees the GPUs of: %s\n", plan.Sees)
	}
	for _, k := range slices.Sorted(maps.Keys(plan.Env)) {
		fmt.Fprintf(out, "  %s=%s\n", k, plan.Env[k])
	}
}

func evidence(p *engine.Probe) string {
	switch {
	case p == nil:
		return "nothing shows it"
	case p.Listen != 0:
		return fmt.Sprint("listens on ", p.Listen)
	}
	return fmt.Sprint("is connected to ", p.Connect)
}

func compare(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; go test -update writes:\n%s", golden, got)
	}
}
