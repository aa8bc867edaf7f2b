//go:build linux && !crashpoints

package control

// crashPoint is where a build with the tag crashpoints can be made to die.
func crashPoint(string) {}
