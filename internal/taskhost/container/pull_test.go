//go:build linux

package container

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster.dev/muster/internal/engine"
)

func TestPull(t *testing.T) {
	home, run := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "contexts"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(`{"currentContext":"rootless","credsStore":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	login := &engine.Login{Secret: "REG", Config: []byte(`{"auths":{"r":{"auth":"a"}}}`)}
	for _, tt := range []struct {
		kind, argv, config string
		login              *engine.Login
	}{
		{engine.Podman, "/bin/x pull --quiet r/i", "", nil},
		{engine.Podman, "/bin/x pull --authfile LOGIN/config.json --quiet r/i", `{"auths":{"r":{"auth":"a"}}}`, login},
		{engine.Docker, "/bin/x pull --quiet r/i", "", nil},
		{engine.Docker, "/bin/x pull --quiet r/i", `{"auths":{"r":{"auth":"a"}},"currentContext":"rootless"}`, login},
	} {
		env := []string{"PATH=/bin", "DOCKER_CONFIG=" + home}
		p, err := NewPull(run, &engine.Container{Runtime: engine.Runtime{Kind: tt.kind, Path: "/bin/x", Env: env}, Image: "r/i", Login: tt.login})
		if err != nil {
			t.Fatal(err)
		}
		argv := strings.Join(p.Argv, " ")
		if p.dir != "" {
			argv = strings.ReplaceAll(argv, p.dir, "LOGIN")
		}
		if argv != tt.argv {
			t.Errorf("%s: got %s", tt.kind, argv)
		}
		if tt.login == nil {
			if p.dir != "" || !slices.Equal(p.Env, env) {
				t.Errorf("%s without a login: %q in %q", tt.kind, p.Env, p.dir)
			}
			continue
		}
		checkLogin(t, p, tt.config)
		if docker := slices.Contains(p.Env, "DOCKER_CONFIG="+p.dir); docker != (tt.kind == engine.Docker) || len(p.Env) != 2 {
			t.Errorf("%s: env %q", tt.kind, p.Env)
		}
		p.Done()
		if left, _ := filepath.Glob(Dir(run) + "/*"); len(left) > 0 {
			t.Errorf("%s: left is %q", tt.kind, left)
		}
	}
}

func checkLogin(t *testing.T, p *Pull, want string) {
	t.Helper()
	file := filepath.Join(p.dir, "config.json")
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v", st.Mode())
	}
}

// A login whose pull was killed goes with the next look at the run's containers.
func TestSweepLogins(t *testing.T) {
	run := t.TempDir()
	c := &engine.Container{Runtime: engine.Runtime{Kind: engine.Podman, Path: "/bin/x"}, Image: "i", Login: &engine.Login{Config: []byte("{}")}}
	if _, err := NewPull(run, c); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(run, "run"); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(Dir(run) + "/*"); len(left) > 0 {
		t.Errorf("left is %q", left)
	}
}
