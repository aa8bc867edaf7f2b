//go:build linux

package rank

import (
	"os"
	"testing"
)

// TestMain lets the test binary be muster, as which it is started again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "rank" {
		os.Exit(Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}
