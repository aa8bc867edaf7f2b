package ui

import "testing"

func TestWidth(t *testing.T) {
	tests := []struct {
		name, text string
		want       int
	}{
		{"nothing", "", 0},
		{"ASCII", "worker-0", 8},
		{"umlaut", "größe", 5},
		{"CJK", "日本語", 6},
		{"full width", "ＡＢ", 4},
		{"Hangul by parts", "\u1112\u1161\u11ab", 2},
		{"combining", "e\u0301", 1},
		{"emoji", "🙂", 2},
		{"marks", "✓✗…·", 4},
		{"colour", "\x1b[1;31mred\x1b[0m", 3},
		{"zero width space", "a\u200bb", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Width(tt.text); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestWideIsSorted(t *testing.T) {
	last := rune(0)
	for _, r := range wide {
		if r[0] <= last || r[1] < r[0] {
			t.Errorf("%#x-%#x is out of order", r[0], r[1])
		}
		last = r[1]
	}
}

func TestCut(t *testing.T) {
	tests := []struct {
		name, text string
		width      int
		want       string
	}{
		{"fits", "abc", 3, "abc"},
		{"too long", "abcd", 3, "ab…"},
		{"wide does not fit", "日本語", 4, "日…"},
		{"combining stays with its letter", "e\u0301abc", 2, "e\u0301…"},
		{"colour is closed", "\x1b[31mabcd\x1b[0m", 3, "\x1b[31mab…\x1b[0m"},
		{"closed colour", "\x1b[31ma\x1b[0mbcd", 3, "\x1b[31ma\x1b[0mb…"},
		{"one cell", "abc", 1, "…"},
		{"no room", "abc", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Cut(tt.text, tt.width, "…"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
