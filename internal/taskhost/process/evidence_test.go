//go:build linux

package process

import "testing"

func TestPortTakenIn(t *testing.T) {
	for text, want := range map[string]bool{
		"OSError: [Errno 98] Address already in use":             true,
		"listen tcp4 127.0.0.1:80: bind: address already in use": true,
		"Error: listen EADDRINUSE: address":                      true,
		"ValueError: bad label":                                  false,
		"":                                                       false,
	} {
		if got := PortTakenIn([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestNoCgroup needs no rights: a nil group is what a machine without gives.
func TestNoCgroup(t *testing.T) {
	g, err := NewCgroup("run", "worker-0/1.1", 0, 0)
	if g != nil || err != nil {
		t.Fatalf("a task without limits has %v, %v", g, err)
	}
	g.Add(1)
	g.Kill()
	g.Remove()
	if g.FD() != 0 || g.OOMKills() != 0 {
		t.Error("no group has something")
	}
}
