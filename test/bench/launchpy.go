//go:build linux

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// launchPy is the launcher that comes with MXNet, from the environment that
// scripts/demo-env makes. It uses a name that Python 3.9 removed, so what runs
// is a copy in which that name is mended.
func launchPy(b *bench) func() ([]float64, error) {
	python := filepath.Join(b.top, ".cache", "demo", "bin", "python")
	script, err := copyLaunchPy(filepath.Join(b.top, ".cache", "demo"), b.path("launchpy"))
	return func() ([]float64, error) {
		if err != nil {
			return nil, err
		}
		return toItsEnd(func() *exec.Cmd {
			return exec.Command(python, script, "-n", "4", "-s", "2", "--launcher", "local", "/bin/true")
		})()
	}
}

func copyLaunchPy(env, to string) (string, error) {
	found, _ := filepath.Glob(filepath.Join(env, "lib", "python3*", "site-packages"))
	if len(found) == 0 || !exists(filepath.Join(found[0], "mxnet", "tools", "launch.py")) {
		return "", errors.New("no mxnet here: scripts/demo-env installs it")
	}
	if err := os.CopyFS(filepath.Join(to, "dmlc_tracker"), os.DirFS(filepath.Join(found[0], "dmlc_tracker"))); err != nil {
		return "", err
	}
	source, err := os.ReadFile(filepath.Join(found[0], "mxnet", "tools", "launch.py"))
	if err != nil {
		return "", err
	}
	script := filepath.Join(to, "launch.py")
	if err := os.WriteFile(script, source, 0o600); err != nil {
		return "", err
	}
	tracker := filepath.Join(to, "dmlc_tracker", "tracker.py")
	text, err := os.ReadFile(tracker)
	if err != nil {
		return "", err
	}
	return script, os.WriteFile(tracker, bytes.ReplaceAll(text, []byte("isAlive"), []byte("is_alive")), 0o600)
}
