package crash

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var call = regexp.MustCompile(`\bcrash\.Point\("([^"]*)"\)`)

// inSource finds every point that the source has, and how often.
func inSource(t *testing.T) map[string]int {
	t.Helper()
	found := map[string]int{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range call.FindAllSubmatch(b, -1) {
			found[string(m[1])]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A point that is listed and not there would be tested in name only; one that
// is there and not listed, never.
func TestPointsAreThoseInTheSource(t *testing.T) {
	found := inSource(t)
	for _, p := range Points {
		if found[p] == 0 {
			t.Errorf("%s is listed, and no code has it", p)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(Points, p) {
			t.Errorf("%s is in the code and not listed", p)
		}
		if found[p] > 1 {
			t.Errorf("%s is in the code %d times: a name means one moment", p, found[p])
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(Points)))); n != len(Points) {
		t.Errorf("%d points, %d different ones", len(Points), n)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        order
	}{
		{"nothing", "", order{nth: 1}},
		{"a name", "own.locked", order{name: "own.locked", nth: 1}},
		{"once", "own.locked=/tmp/a=b", order{name: "own.locked", nth: 1, file: "/tmp/a=b"}},
		{"the third time", "own.locked*3=/x", order{name: "own.locked", nth: 3, file: "/x"}},
		{"stopped", "stop:own.locked", order{name: "own.locked", nth: 1, stop: true}},
		{"a bad count", "own.locked*0", order{}},
		{"no count", "own.locked*", order{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(c.value); got != c.want {
				t.Errorf("parse(%q) = %+v, want %+v", c.value, got, c.want)
			}
		})
	}
}
