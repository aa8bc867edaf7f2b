// Package suite lets tests that need more than Go declare so: they skip with a
// reason on a machine that cannot run them, and fail there when they are
// required.
package suite

import (
	"os"
	"slices"
	"strings"
)

// Variable names the suites that must run, separated by commas; "all" is every
// one. CI sets it, so that a suite cannot vanish from it unnoticed.
const Variable = "MUSTER_REQUIRED_SUITES"

// A T is the part of testing.TB that is needed here.
type T interface {
	Helper()
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Require ends the test if there is a reason why the suite cannot run here: as
// skipped, or as failed when the suite is required. No reason changes nothing.
func Require(t T, name, reason string) {
	t.Helper()
	switch {
	case reason == "":
	case required(name):
		t.Fatalf("the suite %s is required by %s and cannot run: %s", name, Variable, reason)
	default:
		t.Skipf("the suite %s cannot run: %s", name, reason)
	}
}

func required(name string) bool {
	names := strings.Split(os.Getenv(Variable), ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return slices.Contains(names, "all") || slices.Contains(names, name)
}
