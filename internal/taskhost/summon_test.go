//go:build linux

package taskhost

import (
	"net"
	"testing"
)

// A stream that does not tell who is at its other end makes nobody an owner.
func TestSamePeerNeedsProof(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	if err := samePeer(ours); err == nil {
		t.Error("an unknown peer may own the run")
	}
}
