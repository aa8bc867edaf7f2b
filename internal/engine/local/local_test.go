//go:build linux

package local_test

import (
	"os"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/engine/enginetest"
	"muster.dev/muster/internal/engine/local"
	"muster.dev/muster/internal/taskhost"
	"muster.dev/muster/internal/taskhost/process"
)

func newEngine() engine.Engine {
	return local.New(local.Config{Exe: enginetest.Binary("muster"), Alone: enginetest.InOwner()})
}

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m, newEngine)) }

func TestEngine(t *testing.T) {
	for _, isolation := range []string{"auto", "none"} {
		t.Run("isolation "+isolation, func(t *testing.T) {
			enginetest.Run(t, enginetest.Options{
				New: newEngine, Isolation: isolation, Host: hostPid, Memory: process.CgroupRoot() != "",
			})
		})
	}
}

func TestEngineAsPlainUser(t *testing.T) { enginetest.AsUser(t, 65534, "^(TestEngine|TestIsolation)$") }

func hostPid(runDir string) (int, error) {
	rec, err := taskhost.ReadRecord(runDir)
	if err != nil || rec == nil {
		return 0, err
	}
	return rec.Pid, nil
}
