//go:build linux

package chaos

import (
	"bytes"
	"os/exec"
	"testing"
)

// TestPieceIsTheTrainers shows that the checker knows what the trainer writes.
func TestPieceIsTheTrainers(t *testing.T) {
	want, err := exec.Command(trainerExe, "bytes=800,worker-1.2.3").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := piece(pieceName("worker-1", 2, 3), 10); !bytes.Equal(got, want) {
		t.Errorf("the checker expects %q, the trainer writes %q", got, want)
	}
}
