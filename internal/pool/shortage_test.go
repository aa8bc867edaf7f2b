package pool

import (
	"strings"
	"testing"

	"muster.dev/muster/internal/run"
)

// What a round says of a run that waits can be asked again.
func TestShortage(t *testing.T) {
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
			active := []run.Run{*tt.runs[0], *tt.runs[1]}
			got, ok := ShortageOf(tt.c, active, "b")
			if !ok || got != tt.want || !strings.HasPrefix(tt.runs[1].Reason, got.String()) {
				t.Errorf("%+v, %v after %q; want %+v", got, ok, tt.runs[1].Reason, tt.want)
			}
			if s, ok := ShortageOf(tt.c, active, "a"); ok {
				t.Errorf("what has its share waits for %+v", s)
			}
		})
	}
}
