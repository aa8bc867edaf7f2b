//go:build !linux

package cli

import (
	"runtime"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// needLinux is what there is to say here about runs on this machine: they stand
// on namespaces, pidfds and subreapers.
const (
	needLinux     = "runs on this machine need Linux"
	needLinuxHint = "give the same command on a Linux machine, or in a Linux virtual machine or container on this one"
)

// internalCommand carries out what muster starts itself as: here, nothing.
func internalCommand([]string) (code int, ours bool) { return 0, false }

// openPlane refuses: this machine has no engine.
func (a *app) openPlane() (run.Service, error) {
	return nil, problem.New(problem.Refused, "%s, and this is %s", needLinux, runtime.GOOS).WithHint(needLinuxHint)
}
