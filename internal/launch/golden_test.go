package launch

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

var update = flag.Bool("update", false, "write the golden files")

// A scene is a run whose tasks all hold their places.
type scene struct {
	Dir     string
	Run     run.Run
	Private Private
	Seen    engine.Observed
}

func read(t *testing.T, file string) (s scene) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// want asks for all of them to be launched.
func (s *scene) want() *engine.Desired {
	want := &engine.Desired{Attempt: s.Run.Attempt}
	for _, task := range s.Run.Spec.Tasks() {
		want.Tasks = append(want.Tasks, engine.Want{Instance: job.Instance{Task: task, Attempt: s.Run.Attempt, Try: 1}, State: engine.Launched})
	}
	return want
}

// TestLaunches compares how the tasks of each run of testdata are started with
// the golden file beside it.
func TestLaunches(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no runs in testdata (%v)", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := read(t, file)
			want := s.want()
			if err := (&Launcher{Dir: s.Dir, Private: s.Private}).Fill(&s.Run, s.Seen, want); err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(want.Tasks, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			compare(t, strings.TrimSuffix(file, ".json")+".golden", append(got, '\n'))
		})
	}
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

// Only what holds its place and is to be launched gets a launch, and none is
// made up for a node that nobody has told of.
func TestFillNeedsPlaces(t *testing.T) {
	s := read(t, "testdata/nodes.json")
	l := &Launcher{Dir: s.Dir, Private: s.Private}
	want := s.want()
	want.Tasks[0].State = engine.Held
	s.Seen.Instances[1].State = engine.Running
	if err := l.Fill(&s.Run, s.Seen, want); err != nil || want.Tasks[0].Launch != nil || want.Tasks[1].Launch != nil {
		t.Errorf("%+v, %v; want no launch", want.Tasks, err)
	}
	s.Seen.Instances[1].State = engine.Holding
	delete(s.Seen.Nodes, "h2")
	if err := l.Fill(&s.Run, s.Seen, want); problem.KindOf(err) != problem.Internal || !strings.Contains(err.Error(), "worker-1") {
		t.Errorf("a launch on a node that nobody knows: %v", err)
	}
}
