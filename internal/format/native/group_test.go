package native

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGroupFiles reads testdata/group-*.yaml into what stands beside it.
func TestGroupFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/group/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			s, g, err := ParseFile(filepath.Base(f), data)
			switch {
			case err != nil:
				got = err.Error() + "\n"
			case s != nil:
				t.Fatal("read as a single job")
			default:
				b, err := json.MarshalIndent(g, "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				got = string(b) + "\n"
			}
			golden := strings.TrimSuffix(f, ".yaml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestParseFileOfOneJob(t *testing.T) {
	s, g, err := ParseFile("a.yaml", []byte("run: echo"))
	if err != nil || g != nil || s == nil || s.Roles["worker"].Run != "echo" {
		t.Errorf("%v %v %v", s, g, err)
	}
}
