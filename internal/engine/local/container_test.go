//go:build linux

package local_test

import (
	"os"
	"testing"

	"muster.dev/muster/internal/engine/enginetest"
	"muster.dev/muster/test/containers"
)

// TestPodman passes the suite in podman's containers, TestDocker in docker's.
func TestPodman(t *testing.T) { inContainers(t, "podman") }

func TestDocker(t *testing.T) { inContainers(t, "docker") }

// TestPodmanRootless passes it as a user who is nobody special.
func TestPodmanRootless(t *testing.T) {
	enginetest.AsUser(t, containers.RootlessUser(t), "^TestPodman$")
}

func inContainers(t *testing.T, runtime string) {
	r := containers.Start(t, runtime)
	enginetest.Run(t, enginetest.Options{
		New: newEngine, Isolation: "none", Host: hostPid, Memory: os.Geteuid() == 0,
		Containers: &enginetest.Containers{Image: containers.Image, Left: r.Left},
	})
}
