package cli

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"muster.dev/muster/internal/format/native"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/rendezvous"
)

// Every framework has a starter file, which is right as it is, and right with
// everything that it only suggests.
func TestStarters(t *testing.T) {
	entries, err := fs.ReadDir(starters, "starters")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".yaml")
		names = append(names, name)
		text, err := starters.ReadFile("starters/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			checkStarter(t, name, text)
			checkStarter(t, name, suggested(text))
		})
	}
	want := slices.Sorted(slices.Values(job.Frameworks))
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("starters for %q, want %q", names, want)
	}
}

func checkStarter(t *testing.T, framework string, text []byte) {
	t.Helper()
	spec, err := native.Parse("muster.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if spec.Framework.Name != framework {
		t.Errorf("it is for %s", spec.Framework.Name)
	}
	rendezvous.Complete(spec)
	fw, err := rendezvous.ByName(framework)
	if err != nil {
		t.Fatal(err)
	}
	if list := fw.Check(spec); len(list) > 0 {
		t.Errorf("%v", list)
	}
}

// suggested is a starter with its commented fields taken in: comment lines that
// begin like a field, and those indented under them.
func suggested(text []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimLeft(line, " ")
		rest, ok := bytes.CutPrefix(trimmed, []byte("# "))
		key, _, found := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(":"))
		if ok && found && len(key) > 0 && !bytes.ContainsAny(key, " ;,") && bytes.Equal(key, bytes.ToLower(key)) {
			line = append(bytes.Repeat([]byte(" "), len(line)-len(trimmed)), rest...)
		}
		out.Write(line)
	}
	return out.Bytes()
}
