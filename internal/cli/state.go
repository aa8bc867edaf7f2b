package cli

import (
	"os"
	"path/filepath"

	"muster.dev/muster/internal/problem"
)

// stateDir is where runs are kept: MUSTER_STATE_DIR, or the XDG data directory.
func stateDir(env func(string) string) (string, error) {
	dir := env("MUSTER_STATE_DIR")
	if dir == "" {
		data := env("XDG_DATA_HOME")
		if data == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", problem.Wrap(problem.Refused, err, "find a place for the state of runs").WithHint("set MUSTER_STATE_DIR")
			}
			data = filepath.Join(home, ".local", "share")
		}
		dir = filepath.Join(data, "muster")
	}
	return filepath.Abs(dir)
}

// makeStateDir makes the state directory, for its user only.
func makeStateDir(dir string) error {
	if target, err := os.Readlink(dir); err == nil && !exists(dir) {
		return problem.New(problem.Refused, "the state directory %s is a link to %s, which is not there", dir, target).WithHint("mkdir -p %s", target)
	}
	err := os.MkdirAll(filepath.Join(dir, "runs"), 0o700)
	if err == nil {
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		return problem.Wrap(problem.Refused, err, "make the state directory").WithHint("set MUSTER_STATE_DIR to a directory that you can write to")
	}
	return nil
}
