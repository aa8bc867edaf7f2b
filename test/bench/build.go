//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// newBench makes the folder that all is measured in, and the binary.
func newBench(dir, muster string) (*bench, error) {
	top, err := output("go", "list", "-m", "-f", "{{.Dir}}", "muster.dev/muster")
	if err != nil {
		return nil, err
	}
	b := &bench{top: strings.TrimSpace(top)}
	if b.dir, err = os.MkdirTemp(dir, "muster-bench-"); err != nil {
		return nil, err
	}
	if b.muster = b.path("muster"); muster != "" {
		b.muster, err = filepath.Abs(muster)
	} else {
		err = b.build(b.muster, b.top, "./cmd/muster")
	}
	if err != nil {
		os.RemoveAll(b.dir)
		return nil, err
	}
	b.report = newReport(b)
	return b, nil
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// build makes a static binary the way make build does.
func (b *bench) build(to, dir string, what ...string) error {
	c := exec.Command("go", append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", to}, what...)...)
	c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", to, err, out)
	}
	return nil
}

// trainer builds the program that writes as much as it is told to.
func (b *bench) trainer() (string, error) {
	to := b.path("trainer")
	return to, b.build(to, b.top, "./test/trainer")
}

const helloSource = `package main

import "os"

func main() { os.Stdout.WriteString("hello\n") }
`

// hello builds the least that a Go program can be.
func (b *bench) hello() (string, error) {
	src := b.path("hello.go")
	if err := os.WriteFile(src, []byte(helloSource), 0o600); err != nil {
		return "", err
	}
	to := b.path("hello")
	return to, b.build(to, b.dir, src)
}

// output is what a command prints on stdout; what it prints on stderr goes
// into its error.
func output(name string, args ...string) (string, error) {
	return finish(exec.Command(name, args...))
}

func finish(c *exec.Cmd) (string, error) {
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, lastLines(errs.String(), 6))
	}
	return out.String(), nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// command is a muster command with a state directory of its own.
func (b *bench) command(state string, args ...string) *exec.Cmd {
	c := exec.Command(b.muster, args...)
	c.Env = append(os.Environ(), "MUSTER_STATE_DIR="+b.path(state))
	c.Dir = b.dir
	return c
}
