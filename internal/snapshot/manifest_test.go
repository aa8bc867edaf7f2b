package snapshot

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var aSum = strings.Repeat("ab", 32)

// hostile are manifests that must not be extracted.
var hostile = []struct{ name, lines, says string }{
	{"the parent", `{"path":"../x","sha256":"SUM"}`, "not a path inside"},
	{"the parent, further in", `{"path":"a/../../x","sha256":"SUM"}`, "not a path inside"},
	{"an absolute path", `{"path":"/etc/x","sha256":"SUM"}`, "not a path inside"},
	{"the folder itself", `{"path":"."}`, "not a path inside"},
	{"no path", `{"sha256":"SUM"}`, "not a path inside"},
	{"a double slash", `{"path":"a//b"}`, "not a path inside"},
	{"a zero byte", `{"path":"a\u0000b"}`, "not a path inside"},
	{"a sum that is a path", `{"path":"a","sha256":"../../../../etc/passwd"}`, "not a SHA-256"},
	{"a sum in capitals", `{"path":"a","sha256":"` + strings.ToUpper(aSum) + `"}`, "not a SHA-256"},
	{"a negative size", `{"path":"a","sha256":"SUM","size":-1}`, "not a SHA-256"},
	{"an absolute link", `{"path":"a","link":"/etc"}`, "leads out"},
	{"a link to the parent", `{"path":"a/b","link":"../../c"}`, "leads out"},
	{"a link out by way of another", `{"path":"a/up","link":".."}` + "\n" + `{"path":"b","link":"a/up/../c"}`, "leads out"},
	{"a file through a link", `{"path":"a","link":"b"}` + "\n" + `{"path":"a/x","sha256":"SUM"}`, "inside"},
	{"a file in a file", `{"path":"a","sha256":"SUM"}` + "\n" + `{"path":"a/x","sha256":"SUM"}`, "inside"},
	{"twice the same", `{"path":"a"}` + "\n" + `{"path":"a"}`, "not in order"},
	{"out of order", `{"path":"b"}` + "\n" + `{"path":"a"}`, "not in order"},
	{"both a link and a file", `{"path":"a","link":"b","sha256":"SUM"}`, "both a link and a file"},
	{"a size without content", `{"path":"a","size":3}`, "a file without content"},
	{"an unknown field", `{"path":"a","owner":"root"}`, "unknown field"},
	{"no JSON", `hello`, "entry 1"},
	{"something after the end", `{"path":"a"}]`, "entry 2"},
}

func TestHostileManifest(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t)
			write(t, s.Dir, "lock", "")
			text := header + strings.ReplaceAll(c.lines, "SUM", aSum)
			id := sum([]byte(text))
			write(t, s.Dir, "manifests/"+id, text)
			dest := filepath.Join(t.TempDir(), "copy")
			err := s.Extract(context.Background(), id, dest)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Extract says %v, want %q", err, c.says)
			}
			if left, _ := os.ReadDir(filepath.Dir(dest)); len(left) > 0 {
				t.Errorf("it left %v behind", left)
			}
		})
	}
}

func TestANewerManifestIsRefused(t *testing.T) {
	if _, err := decode([]byte(`{"snapshot":2}` + "\n")); err == nil {
		t.Error("a manifest of a later version was read")
	}
}

// FuzzManifest looks for manifests that crash, that do not survive being
// written again, or that write outside of the folder.
func FuzzManifest(f *testing.F) {
	for _, c := range hostile {
		f.Add(strings.ReplaceAll(c.lines, "SUM", aSum))
	}
	f.Add(`{"path":"a/b","link":"../c"}` + "\n" + `{"path":"c/d"}`)
	f.Fuzz(func(t *testing.T, lines string) {
		entries, err := decode([]byte(header + lines))
		if err != nil {
			return
		}
		again, err := decode(encode(entries))
		if err != nil || !reflect.DeepEqual(again, entries) {
			t.Fatalf("%+v became %+v (%v)", entries, again, err)
		}
		outer := t.TempDir()
		inner := filepath.Join(outer, "x", "y")
		if err := os.MkdirAll(inner, 0o755); err != nil {
			t.Fatal(err)
		}
		s := &Store{Dir: t.TempDir()}
		_ = s.fill(context.Background(), inner, entries) // most have no content: only where it writes matters
		staysInside(t, outer, inner)
	})
}

func staysInside(t *testing.T, outer, inner string) {
	t.Helper()
	err := filepath.WalkDir(outer, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(p, inner); err == nil && filepath.IsLocal(rel) {
			return nil // on the way in
		}
		if !strings.HasPrefix(p, inner+"/") {
			t.Errorf("%s is outside", p)
		}
		if d.Type() == fs.ModeSymlink {
			if to, err := filepath.EvalSymlinks(p); err == nil && to != inner && !strings.HasPrefix(to, inner+"/") {
				t.Errorf("%s leads to %s", p, to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
