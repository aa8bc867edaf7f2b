//go:build linux

package chaos

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What the tests run: muster with its crash points, and the fake trainer.
var musterExe, trainerExe string

func TestMain(m *testing.M) {
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "muster-chaos-bin-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // some rounds run as another user
		return 1, err
	}
	musterExe, trainerExe = filepath.Join(dir, "muster"), filepath.Join(dir, "trainer")
	for _, args := range [][]string{
		{"build", "-tags", "crashpoints", "-o", musterExe, "muster.dev/muster/cmd/muster"},
		{"build", "-o", trainerExe, "muster.dev/muster/test/trainer"},
	} {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("go %v: %w\n%s", args, err, out)
		}
	}
	return m.Run(), nil
}
