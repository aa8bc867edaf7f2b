//go:build linux

package container

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster.dev/muster/internal/engine"
)

// A Pull fetches an image. What it needs to log in lies in a folder of its own
// until Done.
type Pull struct {
	Argv, Env []string
	dir       string
}

const loginPrefix = "login-"

// NewPull prepares to fetch the image of a container.
func NewPull(runDir string, c *engine.Container) (*Pull, error) {
	p := &Pull{Argv: []string{c.Runtime.Path, "pull", "--quiet", c.Image}, Env: c.Runtime.Env}
	if c.Login == nil {
		return p, nil
	}
	if err := os.MkdirAll(Dir(runDir), 0o700); err != nil {
		return nil, err
	}
	var err error
	if p.dir, err = os.MkdirTemp(Dir(runDir), loginPrefix); err != nil {
		return nil, err
	}
	if err := p.login(c); err != nil {
		p.Done()
		return nil, err
	}
	return p, nil
}

// Done removes the login.
func (p *Pull) Done() {
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}

func (p *Pull) login(c *engine.Container) error {
	file, config := filepath.Join(p.dir, "config.json"), c.Login.Config
	if c.Runtime.Kind == engine.Podman {
		p.Argv = slices.Insert(p.Argv, 2, "--authfile", file)
	} else {
		var err error
		if config, err = p.dockerConfig(c); err != nil {
			return err
		}
		theirs := func(kv string) bool { return strings.HasPrefix(kv, "DOCKER_CONFIG=") }
		p.Env = append(slices.DeleteFunc(slices.Clone(p.Env), theirs), "DOCKER_CONFIG="+p.dir)
	}
	return os.WriteFile(file, config, 0o600)
}

// dockerConfig adds to a login how docker's daemon is found, which the user's
// own config may say: docker reads only one.
func (p *Pull) dockerConfig(c *engine.Container) ([]byte, error) {
	theirs := lookup(c.Runtime.Env, "DOCKER_CONFIG")
	if theirs == "" {
		theirs = filepath.Join(lookup(c.Runtime.Env, "HOME"), ".docker")
	}
	var has struct {
		CurrentContext string `json:"currentContext"`
	}
	b, err := os.ReadFile(filepath.Join(theirs, "config.json"))
	if err != nil || json.Unmarshal(b, &has) != nil || has.CurrentContext == "" {
		return c.Login.Config, nil // it has none
	}
	if err := os.Symlink(filepath.Join(theirs, "contexts"), filepath.Join(p.dir, "contexts")); err != nil {
		return nil, err
	}
	var config map[string]any
	if err := json.Unmarshal(c.Login.Config, &config); err != nil {
		return nil, err
	}
	config["currentContext"] = has.CurrentContext
	return json.Marshal(config)
}

// sweepLogins removes logins whose pull was killed.
func sweepLogins(runDir string) error {
	left, err := filepath.Glob(filepath.Join(Dir(runDir), loginPrefix+"*"))
	for _, dir := range left {
		if rerr := os.RemoveAll(dir); rerr != nil {
			err = rerr
		}
	}
	return err
}

// Refusal says why an image cannot be had.
func Refusal(c *engine.Container, stderr string) error {
	words := Complaint(stderr)
	if c.Login != nil {
		return fmt.Errorf("the image %s cannot be had from %s with the secret %s (image.auth): %s: %s", c.Image, engine.Registry(c.Image), c.Login.Secret, c.Runtime.Kind, words)
	}
	wants := ""
	for _, said := range []string{"unauthorized", "authentication required", "no basic auth"} {
		if strings.Contains(strings.ToLower(words), said) {
			wants = fmt.Sprintf("%s wants a login (image.auth, or %s login): ", engine.Registry(c.Image), c.Runtime.Kind)
		}
	}
	return fmt.Errorf("the image %s cannot be had: %s%s: %s", c.Image, wants, c.Runtime.Kind, words)
}
