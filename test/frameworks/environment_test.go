//go:build linux

package frameworks

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"muster.dev/muster/test/suite"
)

// An environment is a Python that has a framework.
type environment struct {
	path   string // the folder of its python
	reason string // why there is none
}

// environments are prepared by the project's own scripts, once.
var environments = map[string]func() environment{
	"mxnet": sync.OnceValue(func() environment {
		if _, reason := script("demo-env"); reason != "" {
			return environment{reason: reason}
		}
		path, reason := script("demo-env", "--path")
		return environment{path, reason}
	}),
	"torch": sync.OnceValue(func() environment {
		python, reason := script("torch-env", "--install")
		return environment{filepath.Dir(python), reason}
	}),
	"mpi": framework("mpi"),
	"jax": framework("jax"),
	"tvm": framework("tvm"),
}

// framework is an environment that scripts/framework-env makes.
func framework(name string) func() environment {
	return sync.OnceValue(func() environment {
		path, reason := script("framework-env", name)
		return environment{path, reason}
	})
}

// need returns the folder that a framework's tests put first on PATH, or ends
// the test where the framework cannot be had.
func need(t *testing.T, framework string) (path string) {
	t.Helper()
	prepare, ok := environments[framework]
	if !ok {
		t.Fatalf("there is no environment for %q", framework)
	}
	e := prepare()
	suite.Require(t, framework, e.reason)
	return e.path
}

// script runs one of the project's scripts and returns what it prints, or why
// it could not do its work, in one line.
func script(name string, args ...string) (out, reason string) {
	cmd := exec.Command(filepath.Join(root, "scripts", name), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", lastWord(name, stderr.String(), err)
	}
	return strings.TrimSpace(stdout.String()), ""
}

// lastWord is the script's own message, which begins with its name.
func lastWord(name, stderr string, err error) string {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, name+": ") {
			return strings.TrimSpace(line)
		}
	}
	return name + ": " + err.Error()
}
