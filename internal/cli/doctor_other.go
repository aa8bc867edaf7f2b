//go:build !linux

package cli

import (
	"fmt"
	"runtime"
)

func examine(*app) ([]finding, error) {
	return []finding{
		{"muster", true, fmt.Sprintf("%s, %s/%s", version(), runtime.GOOS, runtime.GOARCH)},
		{"engine", false, needLinux + ": " + needLinuxHint},
	}, nil
}
