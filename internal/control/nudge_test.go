//go:build linux

package control

import (
	"os"
	"path/filepath"
	"testing"

	"muster.dev/muster/internal/launch"
)

// A run may be granted, carried out and ended by others before who granted it
// comes to tell its owner.
func TestNudgeLeavesNothingBehind(t *testing.T) {
	for _, tt := range []struct {
		name      string
		underWay  bool
		wantNudge bool
	}{
		{"a run under way", true, true},
		{"a run that has ended", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &Plane{config: Config{StateDir: t.TempDir()}}
			dir := p.runDir("it-aaaa")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := writePrivate(dir, launch.Private{}); err != nil {
				t.Fatal(err)
			}
			if !tt.underWay {
				p.leaveOnlyRecord("it-aaaa")
			}
			p.nudge("it-aaaa")
			if _, err := os.Stat(filepath.Join(dir, nudgeName)); (err == nil) != tt.wantNudge {
				t.Errorf("the nudge: %v, want one: %t", err, tt.wantNudge)
			}
		})
	}
}
