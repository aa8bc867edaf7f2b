package problem

import "testing"

func TestNearest(t *testing.T) {
	fields := []string{"replicas", "resources", "restart", "run", "env", "env_file", "workers", "limits"}
	tests := []struct{ name, word, want string }{
		{"a letter too few", "replica", "replicas"},
		{"a letter too many", "runn", "run"},
		{"a wrong letter", "limitz", "limits"},
		{"two swapped letters", "rnu", "run"},
		{"several slips in a long word", "resorces", "resources"},
		{"a dash for an underscore", "env-file", "env_file"},
		{"the word itself", "env", "env"},
		{"the closest of several", "restar", "restart"},
		{"a different word", "image", ""},
		{"a short different word", "gpu", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Nearest(tt.word, fields); got != tt.want {
				t.Errorf("Nearest(%q) = %q, want %q", tt.word, got, tt.want)
			}
		})
	}
	if got := Nearest("run", nil); got != "" {
		t.Errorf("nothing is known, and %q is nearest", got)
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"abc", "abd", 1}, {"abc", "bac", 1}, {"abc", "acb", 1}, {"abc", "cab", 2}, {"kitten", "sitting", 3},
	}
	for _, tt := range tests {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
