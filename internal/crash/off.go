//go:build !crashpoints || !linux

package crash

// Point is where a build with the tag crashpoints can be made to die.
func Point(string) {}
