package native

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The long form of every file that can be read is the same job, and its own
// long form.
func TestLongIsReadBack(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			spec, err := Parse("muster.yaml", data)
			if err != nil {
				t.Fatal(err)
			}
			long, err := Long(spec)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(long) // JSON is YAML
			if err != nil {
				t.Fatal(err)
			}
			back, err := Parse("long.yaml", text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			spec.Framework.Inferred = false // it is written now
			if !reflect.DeepEqual(spec, back) {
				a, _ := json.Marshal(spec)
				b, _ := json.Marshal(back)
				t.Errorf("%s\nbecomes\n%s", a, b)
			}
		})
	}
}

func TestLongGroupIsReadBack(t *testing.T) {
	data, err := os.ReadFile("testdata/group/nightly.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, g, err := ParseFile("muster.yaml", data, "max_parallel=2", "stop_on_failure=true")
	if err != nil {
		t.Fatal(err)
	}
	long, err := LongGroup(g)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	_, back, err := ParseFile("long.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, spec := range g.Jobs {
		spec.Framework.Inferred = false // it is written now
	}
	if !reflect.DeepEqual(g, back) {
		a, _ := json.Marshal(g)
		b, _ := json.Marshal(back)
		t.Errorf("%s\nbecomes\n%s", a, b)
	}
}
