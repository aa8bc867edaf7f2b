//go:build linux

package local

import (
	"os"
	"runtime"
	"slices"

	"muster.dev/muster/internal/engine"
)

// thisNode is the machine that we are on; tasks have no other.
func thisNode(exe string) engine.Node {
	groups, _ := os.Getgroups()
	return engine.Node{
		Exe: exe, Shell: findShell(), Cores: runtime.NumCPU(), UID: os.Getuid(),
		Groups: slices.DeleteFunc(groups, func(g int) bool { return g == os.Getgid() }),
	}
}

func findShell() string {
	if _, err := os.Stat("/bin/bash"); err == nil {
		return "/bin/bash"
	}
	return "/bin/sh"
}
