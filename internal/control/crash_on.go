//go:build linux && crashpoints

package control

import (
	"os"
	"syscall"
)

// crashPoint dies, as by kill -9, at the point that MUSTER_CRASH_AT names.
func crashPoint(name string) {
	if os.Getenv("MUSTER_CRASH_AT") == name {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}
