package native

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/rendezvous"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden reads every testdata/*.yaml. Next to it is the spec it gives, as
// .json, or the problems it has, as .err.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			base := strings.TrimSuffix(file, ".yaml")
			spec, err := Parse("muster.yaml", data)
			if err != nil {
				golden(t, base+".err", base+".json", listing(t, err))
				return
			}
			text, err := json.MarshalIndent(spec, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, base+".json", base+".err", append(text, '\n'))
			roundTrip(t, spec)
		})
	}
}

// listing shows problems as muster validate does.
func listing(t *testing.T, err error) []byte {
	t.Helper()
	var list problem.List
	if !errors.As(err, &list) {
		t.Fatalf("the error is a %T, want a problem.List", err)
	}
	var b bytes.Buffer
	for _, p := range list {
		if p.Kind != problem.Invalid {
			t.Errorf("%v: kind %s, want invalid", p, p.Kind)
		}
		fmt.Fprintf(&b, "%s  %s  %s\n", p.Where, p.Field, p.Text)
	}
	return b.Bytes()
}

// golden compares with a file; the other one must not be there, so that a test
// cannot change sides unseen.
func golden(t *testing.T, file, other string, got []byte) {
	t.Helper()
	if *update {
		os.Remove(other)
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; got:\n%s", err, got)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", file, got, want)
	}
	if _, err := os.Stat(other); err == nil {
		t.Errorf("%s is there too", other)
	}
}

// roundTrip checks that the stored form of a spec is the spec.
func roundTrip(t *testing.T, spec *job.Spec) {
	t.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	var back job.Spec
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*spec, back) {
		t.Errorf("through JSON the spec changes:\n%+v\n%+v", *spec, back)
	}
}

func TestHostileFilesAreRefused(t *testing.T) {
	laughs := "x-a: &a0 [lol]\n"
	for i := 1; i < 12; i++ {
		ref := fmt.Sprintf("*a%d", i-1)
		laughs += fmt.Sprintf("x-%d: &a%d [%s]\n", i, i, strings.Repeat(ref+", ", 9)+ref)
	}
	merges := "x-0: &m0 {k: v}\n"
	for i := 1; i < 40; i++ {
		merges += fmt.Sprintf("x-%d: &m%d {<<: [*m%d, *m%d]}\n", i, i, i-1, i-1)
	}
	var roles strings.Builder
	roles.WriteString("env:\n")
	for i := range 2000 {
		fmt.Fprintf(&roles, "  K%d: v\n", i)
	}
	roles.WriteString("run: x\nframework: plain\nroles:\n")
	for i := range 2000 {
		fmt.Fprintf(&roles, "  r%d: {}\n", i)
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "nosuch%d: 1\n", i)
	}
	tests := []struct{ name, file, want string }{
		{"a billion laughs", laughs, "more than 100000 values"},
		{"a billion merges", merges, "more than 100000 values"},
		{"an alias inside its anchor", "env: &e {A: *e}\n", "*e contains itself"},
		{"a merge of itself", "env: &e {<<: *e}\n", "*e contains itself"},
		{"deep lists", "x-a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "levels deep"},
		{"a large file", strings.Repeat("# x\n", maxSize/4+1), "a job file has at most 1048576"},
		{"many roles times many defaults", roles.String(), "2000 roles with so many defaults"},
		{"many problems", many.String(), "there are more problems than these 1000"},
		{"an empty file", "", "the file is empty"},
		{"a file of comments", "# nothing\n", "the file is empty"},
		{"a second document", "run: a\n---\nrun: b\n", "a second document begins here"},
		{"broken YAML in a second document", "run: a\n---\nrun: [\n", "not YAML"},
		{"a tag", "run: !include other\n", `the tag "!include" is not supported`},
		{"binary", "run: !!binary aGk=\n", `the tag "!!binary" is not supported`},
		{"a NUL character", `run: "a\0b"`, "NUL character"},
		{"a NUL character in a key", `env: {"a\0b": c}`, "NUL character"},
		{"control characters", "run: a\x01b\n", "control characters are not allowed"},
		{"not UTF-8", "run: \xff\xfe\n", "not YAML"},
		{"a map as key", "{a: b}: c\n", "a key must be text"},
		{"no key", "? \n: c\n", "a key is missing"},
		{"an unknown anchor", "run: *nope\n", "unknown anchor 'nope'"},
		{"a very long key", "? " + strings.Repeat("k", 500_000) + "\n: 1\n", "unknown field"},
		{"a very long value", "workers: " + strings.Repeat("9", 500_000) + "\n", "is too large"},
		{"a very long duration", "limits: {run: " + strings.Repeat("9", 500_000) + "h}\n", "is not a duration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec, err := Parse("muster.yaml", []byte(tt.file))
			if err == nil {
				t.Fatalf("accepted as %+v", spec)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %.2000s\nwant ...%s...", err, tt.want)
			}
			var list problem.List
			if !errors.As(err, &list) || len(list) > maxProblems+1 {
				t.Errorf("got a %T of %d problems", err, len(list))
			}
			for _, p := range list {
				if len(p.Error()) > 1000 {
					t.Errorf("a problem has %d characters: %.200s", len(p.Error()), p.Error())
				}
			}
		})
	}
}

// TestTablesCoverSpec fails when a field of the Spec cannot be written in a
// job file.
func TestTablesCoverSpec(t *testing.T) {
	check := func(of any, names []string, elsewhere ...string) {
		t.Helper()
		typ := reflect.TypeOf(of)
		known := map[string]bool{}
		for _, n := range append(names, elsewhere...) {
			known[n] = true
		}
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if !known[name] {
				t.Errorf("%s.%s: no field %q in the job file", typ, typ.Field(i).Name, name)
			}
		}
	}
	check(job.Spec{}, jobTable.names())
	check(job.Role{}, roleTable.names(), "env_from")
	check(job.Framework{}, frameworkTable.names(), "inferred")
	check(job.Code{}, codeTable.names())
	check(job.Input{}, inputTable.names())
	check(job.Output{}, outputTable.names())
	check(job.Secret{}, secretTable.names())
	check(job.Restart{}, restartTable.names())
	check(job.Codes{}, codesTable.names())
	check(job.RoleRestart{}, roleRestartTable.names())
	check(job.Limits{}, limitsTable.names())
	check(job.Stop{}, stopTable.names())
	check(job.Cleanup{}, cleanupTable.names())
	check(job.Logs{}, logsTable.names())
	check(job.Image{}, imageTable.names())
	check(job.Container{}, containerTable.names())
	check(job.Resources{}, resourcesTable.names())
	check(job.Volume{}, volumeTable.names())
	check(job.Health{}, healthTable.names())
	check(job.Place{}, placeTable.names())
}

func TestRolesShareNothing(t *testing.T) {
	spec, err := Parse("muster.yaml", []byte("servers: 1\nrun: x\nenv: {A: 1}\nimage: i\nvolumes: [a:/b]\nkubernetes: {a: {b: c}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	w, s := spec.Roles["worker"], spec.Roles["server"]
	w.Env["A"], w.Image.Name, w.Volumes[0].Path = "2", "j", "/c"
	if s.Env["A"] != "1" || s.Image.Name != "i" || s.Volumes[0].Path != "/b" {
		t.Errorf("a change of the worker changed the server: %+v", s)
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		spec, err := Parse("muster.yaml", data)
		var list problem.List
		switch {
		case err == nil:
			roundTrip(t, spec)
			if faults := rendezvous.Faults(spec); len(faults) > 0 {
				t.Errorf("accepted with %v", faults)
			}
		case !errors.As(err, &list) || len(list) == 0 || len(list) > maxProblems+1:
			t.Errorf("the error is a %T of %d problems", err, len(list))
		}
	})
}
