package pool

import (
	"testing"

	"muster.dev/muster/internal/run"
)

// What a round says of a run that waits can be read again.
func TestShortageIsReadAgain(t *testing.T) {
	tests := []struct {
		name string
		c    Capacity
		runs []*run.Run
		want Shortage
	}{
		{"GPUs", Capacity{GPUs: []string{"0", "1"}}, []*run.Run{pending("a", 1, 0, 1, 1), pending("b", 2, 0, 2, 1)}, Shortage{GPUs, 1, 2, 2}},
		{"slots", Capacity{Slots: 3}, []*run.Run{pending("a", 1, 0, 2, 0), pending("b", 2, 0, 2, 0)}, Shortage{Slots, 1, 3, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			Round(tt.c, tt.runs)
			got, ok := ParseShortage(tt.runs[1].Reason)
			if !ok || got != tt.want {
				t.Errorf("%q reads as %+v, %v; want %+v", tt.runs[1].Reason, got, ok, tt.want)
			}
		})
	}
	for _, other := range []string{"", "needs data", "1 of 2 doors free, it needs 1"} {
		if s, ok := ParseShortage(other); ok {
			t.Errorf("%q reads as %+v", other, s)
		}
	}
}
