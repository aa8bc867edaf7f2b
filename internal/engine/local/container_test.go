//go:build linux

package local_test

import (
	"testing"

	"muster.dev/muster/internal/engine/enginetest"
	"muster.dev/muster/test/containers"
)

// TestPodman passes the suite in podman's containers, TestDocker in docker's.
func TestPodman(t *testing.T) { inContainers(t, "podman") }

func TestDocker(t *testing.T) { inContainers(t, "docker") }

func inContainers(t *testing.T, runtime string) {
	r := containers.Start(t, runtime)
	enginetest.Run(t, enginetest.Options{
		New: newEngine, Isolation: "none", Host: hostPid, Memory: true,
		Containers: &enginetest.Containers{Image: containers.Image, Left: r.Left},
	})
}
