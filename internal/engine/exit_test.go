package engine

import "testing"

func TestExitCode(t *testing.T) {
	raised := &Exception{Type: "ValueError"}
	for _, c := range []struct {
		name string
		want int
		i    Instance
	}{
		{"its own", 3, Instance{Cause: ByExit, Code: 3}},
		{"killed", 137, Instance{Cause: BySignal, Signal: "KILL"}},
		{"out of memory", 137, Instance{Cause: ByOOM, Signal: "KILL"}},
		{"ended by us", 143, Instance{Cause: BySignal, Signal: "TERM", Asked: true}},
		{"could not be started", 127, Instance{Cause: StartFailed, Code: 127}},
		{"raised, and hung", 1, Instance{Cause: BySignal, Signal: "KILL", Raised: &Exception{Hung: true}}},
		{"raised, and was ended by us on its way out", 1, Instance{Cause: BySignal, Signal: "TERM", Asked: true, Raised: raised}},
		{"raised because we interrupted it", 130, Instance{Cause: BySignal, Signal: "INT", Asked: true, Raised: &Exception{Type: "KeyboardInterrupt"}}},
		{"raised, and was killed from outside on its way out", 137, Instance{Cause: BySignal, Signal: "KILL", Raised: raised}},
		{"raised, and ended with a code of its own when asked to", 7, Instance{Cause: ByExit, Code: 7, Asked: true, Raised: raised}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.i.ExitCode(); got != c.want {
				t.Errorf("code %d, want %d", got, c.want)
			}
		})
	}
}

func TestSignalNumber(t *testing.T) {
	for name, want := range map[string]int{"TERM": 15, "INT": 2, "KILL": 9, "PROF": 27, "signal 64": 64, "signal 99": 9, "": 9} {
		if got := SignalNumber(name); got != want {
			t.Errorf("number of %q is %d, want %d", name, got, want)
		}
	}
}
