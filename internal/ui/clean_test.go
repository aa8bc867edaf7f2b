package ui

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// Without a colour of its own a line looks the same in both.
var cleaning = []struct{ name, in, plain, colour string }{
	{"text", "loss 1.9", "loss 1.9", ""},
	{"tab", "a\tb", "a\tb", ""},
	{"unicode", "größe 日本 🙂", "größe 日本 🙂", ""},
	{"colour", "\x1b[1;31mred\x1b[0m", "red", "\x1b[1;31mred\x1b[0m"},
	{"short reset", "\x1b[31mred\x1b[m", "red", "\x1b[31mred\x1b[m"},
	{"open colour", "\x1b[31mred", "red", "\x1b[31mred\x1b[0m"},
	{"black is not a reset", "\x1b[38;5;0mx", "x", "\x1b[38;5;0mx\x1b[0m"},
	{"cursor", "a\x1b[2Jb\x1b[10;20Hc\x1b[?25ld", "abcd", ""},
	{"SGR with a private mark", "\x1b[>4;2mx", "x", ""},
	{"SGR with an intermediate", "\x1b[1 mx", "x", ""},
	{"title", "a\x1b]0;pwned\x07b", "ab", ""},
	{"hyperlink", "\x1b]8;;http://x\x1b\\here\x1b]8;;\x1b\\", "here", ""},
	{"DCS and APC", "\x1bP1$r\x1b\\a\x1b_cmd\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d", "abcd", ""},
	{"title ended by a C1 ST", "\x1b]0;x\u009cy", "y", ""},
	{"title without an end", "\x1b]0;x", "0;x", ""},
	{"title broken off by a colour", "\x1b]0;x\x1b[31my", "y", "\x1b[31my\x1b[0m"},
	{"reset and charset", "\x1bca\x1b(0b\x1b#8c", "abc", ""},
	{"ESC at the end", "a\x1b", "a", ""},
	{"CSI at the end", "a\x1b[3", "a", ""},
	{"CSI broken by a control", "a\x1b[3\x01m", "am", ""},
	{"ESC before unicode", "\x1bé", "é", ""},
	{"C1 CSI", "a\u009b31mb", "a\ufffd31mb", ""},
	{"8-bit CSI", "a\x9b31mb", "a\ufffd31mb", ""},
	{"bell, backspace, delete, null", "a\x07b\bc\x7fd\x00e", "abcde", ""},
	{"newlines", "a\nb\vc\fd\re", "a b c de", ""},
	{"bidi", "a\u202eb\u2066c", "a\ufffdb\ufffdc", ""},
	{"separators", "a\u2028b\u2029c", "a\ufffdb\ufffdc", ""},
	{"invalid", "a\xff\xc3b", "a\ufffd\ufffdb", ""},
	{"half a character around a bell", "\xc3\x07\xa9", "\ufffd\ufffd", ""},
	{"endless colour", "\x1b[" + strings.Repeat("1;", 100) + "mx", "x", ""},
}

func TestClean(t *testing.T) {
	for _, tt := range cleaning {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(Clean([]byte(tt.in), false)); got != tt.plain {
				t.Errorf("plain: got %q, want %q", got, tt.plain)
			}
			want := tt.colour
			if want == "" {
				want = tt.plain
			}
			if got := string(Clean([]byte(tt.in), true)); got != want {
				t.Errorf("colour: got %q, want %q", got, want)
			}
		})
	}
}

var colourSequence = regexp.MustCompile("\x1b\\[[0-9;]*m")

// harm describes what in line could still harm a terminal.
func harm(line []byte) string {
	if !utf8.Valid(line) {
		return "invalid UTF-8"
	}
	for _, r := range string(colourSequence.ReplaceAll(line, nil)) {
		switch {
		case r < 0x20 && r != '\t', r >= 0x7f && r <= 0x9f:
			return "a control character"
		case strings.ContainsRune("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", r):
			return "a bidirectional override"
		}
	}
	all := colourSequence.FindAll(line, -1)
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	if strings.Trim(string(last[2:len(last)-1]), "0;") != "" {
		return "an open colour"
	}
	return ""
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"plain", "\x1b[31mred", "\x1b]0;t\x07x", "\x1bP\x1b\\", "\x9b2J", "\u009d0;t\u009c", "\x1b[\x1b[31m",
		"\x1b\x1b[0m", "\xe2\x80\x1b[m\xae", "\u202eabc", "\x1b[1;;m\x1b[00m", "a\r\nb",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		plain := bytes.Clone(Clean(in, false))
		coloured := Clean(in, true)
		if !bytes.Equal(in, before) {
			t.Fatal("the input was changed")
		}
		if bytes.IndexByte(plain, esc) >= 0 {
			t.Errorf("ESC without colour: %q", plain)
		}
		for _, out := range [][]byte{plain, coloured} {
			if h := harm(out); h != "" {
				t.Errorf("%s in %q", h, out)
			}
			if again := Clean(out, true); !bytes.Equal(again, out) {
				t.Errorf("cleaned twice: %q became %q", out, again)
			}
		}
		if got := Clean(coloured, false); !bytes.Equal(got, plain) {
			t.Errorf("colour changes the text: %q and %q", got, plain)
		}
	})
}

// A quadratic Clean would take minutes here and run into the test's time limit.
func TestCleanHostileLineIsLinear(t *testing.T) {
	for _, unit := range []string{"\x1b]", "\x1b[", "\x1bP\u009d", "\x1b", "\xc2"} {
		in := bytes.Repeat([]byte(unit), 1<<20)
		if h := harm(Clean(in, true)); h != "" {
			t.Errorf("%q repeated: %s", unit, h)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	line := []byte("epoch 3 step 1840 loss 2.31 accuracy 0.9552 images/s 12345.6")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		Clean(line, true)
	}
}
