//go:build linux

// Package frameworks runs real frameworks, MXNet first, through the real binary,
// and breaks them in the ways that make them hang.
package frameworks

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Where things are, from this folder.
const (
	root     = "../.."
	digits   = root + "/examples/mxnet-digits"
	ddp      = root + "/examples/torch-ddp"
	testdata = "testdata"
)

// binary is the muster under test.
var binary string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	// Muster must see to it that the output of tasks is not held back; what a
	// developer has set would hide that it does not.
	_ = os.Unsetenv("PYTHONUNBUFFERED")
	dir, err := os.MkdirTemp("", "muster-frameworks-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "muster")
	build := exec.Command("go", "build", "-o", binary, "muster.dev/muster/cmd/muster")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build muster: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
