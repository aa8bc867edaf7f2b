//go:build linux

package control

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/store/memory"
)

// stage is a plane with one run whose tasks work in a folder of their own.
func stage(t *testing.T) (*Plane, *run.Run) {
	t.Helper()
	p := New(Config{StateDir: t.TempDir(), Store: memory.New()})
	r := &run.Run{ID: "a-1111", Phase: run.Pending, Origin: run.Origin{Dir: t.TempDir()}}
	r.Spec = job.Spec{Name: "a", Roles: map[string]*job.Role{"worker": {Replicas: 1}}}
	r.Created = r.Created.AddDate(2026, 0, 0)
	if err := makeRunDir(p.runDir(r.ID)); err != nil {
		t.Fatal(err)
	}
	if err := p.config.Store.Create(t.Context(), *r); err != nil {
		t.Fatal(err)
	}
	return p, r
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCollectKeepsWhatThePolicySays(t *testing.T) {
	p, r := stage(t)
	out := filepath.Join(t.TempDir(), "copy")
	write(t, filepath.Join(r.Origin.Dir, "model", "a.params"), "A")
	write(t, filepath.Join(r.Origin.Dir, "model", "notes.txt"), "not asked for")
	write(t, filepath.Join(r.Origin.Dir, "core"), "dump")
	r.Spec.Outputs = []job.Output{
		{Path: "model/*.params", To: out},
		{Path: "core", When: "failure"},
	}
	r.Phase = run.Succeeded
	for range 2 { // an owner that dies half-way is followed by another
		if err := p.collect(r); err != nil {
			t.Fatal(err)
		}
	}
	kept := filepath.Join(p.runDir(r.ID), launch.OutputsDir)
	if got := read(t, filepath.Join(kept, "model", "a.params")); got != "A" {
		t.Errorf("kept %q", got)
	}
	if got := read(t, filepath.Join(out, "a.params")); got != "A" {
		t.Errorf("copied out %q", got)
	}
	for _, name := range []string{"model/notes.txt", "core"} {
		if _, err := os.Stat(filepath.Join(kept, name)); err == nil {
			t.Errorf("%s was kept and should not be", name)
		}
	}
	r.Phase = run.Failed
	if err := p.collect(r); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(kept, "core")); got != "dump" {
		t.Errorf("after a failure kept %q", got)
	}
}

func TestInputs(t *testing.T) {
	p, r := stage(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/data.csv" {
			http.NotFound(w, q)
			return
		}
		_, _ = io.WriteString(w, "1,2")
	}))
	defer web.Close()
	local := filepath.Join(t.TempDir(), "set")
	write(t, filepath.Join(local, "x"), "X")
	r.Spec.Inputs = []job.Input{{Name: "train", From: local, Env: "TRAIN"}, {From: web.URL + "/data.csv", Env: "CSV"}}
	var v launch.Private
	if err := p.placeInputs(t.Context(), r, &v); err != nil {
		t.Fatal(err)
	}
	env := v.RoleEnv["worker"]
	if got := read(t, filepath.Join(env["TRAIN"], "x")); got != "X" {
		t.Errorf("TRAIN holds %q", got)
	}
	if got := read(t, env["CSV"]); got != "1,2" || filepath.Base(env["CSV"]) != "data.csv" {
		t.Errorf("CSV is %s and holds %q", env["CSV"], got)
	}
}

func TestInputsRefused(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	for name, in := range map[string]job.Input{
		"a path that is not there":       {From: "/nonexistent/data"},
		"a URL that gives nothing":       {From: web.URL + "/x"},
		"a path into the caller's files": {From: t.TempDir(), Path: "data"},
	} {
		p, r := stage(t)
		r.Spec.Inputs = []job.Input{in}
		if err := p.placeInputs(t.Context(), r, &launch.Private{}); problem.KindOf(err) != problem.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	p, r := stage(t)
	r.Origin.Code = "abc"
	r.Spec.Inputs = []job.Input{{From: t.TempDir(), Path: "../../escape"}}
	if err := p.placeInputs(t.Context(), r, &launch.Private{}); err == nil {
		t.Error("an input was put outside the code")
	}
}

func TestSecrets(t *testing.T) {
	p, r := stage(t)
	r.Spec.Secrets = map[string]job.Secret{"TOKEN": {Env: "TOKEN"}, "key": {File: "k", As: "tls.key"}}
	var v launch.Private
	dir := p.runDir(r.ID)
	if err := keepSecrets(dir, &r.Spec, map[string][]byte{"TOKEN": []byte("s3cret"), "key": []byte("pem")}, &v); err != nil {
		t.Fatal(err)
	}
	env := v.RoleEnv["worker"]
	if env["TOKEN"] != "s3cret" {
		t.Errorf("TOKEN is %q", env["TOKEN"])
	}
	path := filepath.Join(env["MUSTER_SECRETS_DIR"], "tls.key")
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o400 || read(t, path) != "pem" {
		t.Errorf("%s: %v %v", path, st, err)
	}
	if err := keepSecrets(dir, &r.Spec, nil, &v); problem.KindOf(err) != problem.Invalid {
		t.Errorf("a secret without a value: %v", err)
	}
}

func TestOpenStaysInside(t *testing.T) {
	p, r := stage(t)
	dir := p.runDir(r.ID)
	write(t, filepath.Join(dir, launch.OutputsDir, "model.bin"), "M")
	write(t, filepath.Join(dir, privateName), "secret")
	outside := filepath.Join(t.TempDir(), "passwd")
	write(t, outside, "root")
	if err := os.Symlink(outside, filepath.Join(dir, launch.OutputsDir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"model.bin", "outputs/model.bin"} {
		f, err := p.Open(t.Context(), r.ID, path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if b, _ := io.ReadAll(f); string(b) != "M" {
			t.Errorf("%s holds %q", path, b)
		}
		_ = f.Close()
	}
	for _, path := range []string{"../env.json", "env.json", "outputs/../env.json", "link", "outputs/link", "/etc/passwd", "", "outputs"} {
		if f, err := p.Open(t.Context(), r.ID, path); problem.KindOf(err) != problem.NotFound {
			t.Errorf("%q was opened: %v %v", path, f, err)
		}
	}
	files, err := p.Files(t.Context(), r.ID)
	if err != nil || len(files) != 1 || files[0].Path != "outputs/model.bin" || files[0].Size != 1 {
		t.Errorf("files %v, %v", files, err)
	}
}

// TestIDsAreClaimed: two runs never share a folder, however often their ids are
// drawn alike.
func TestIDsAreClaimed(t *testing.T) {
	dir := t.TempDir()
	folder := func(id string) string { return filepath.Join(dir, "runs", id[len(id)-1:]) }
	seen := map[string]bool{}
	for range len(idLetters) {
		id, err := claimID("a", folder)
		if err != nil {
			t.Fatal(err)
		}
		if f := folder(id); seen[f] {
			t.Fatalf("%s was given twice", f)
		} else {
			seen[f] = true
		}
	}
}
