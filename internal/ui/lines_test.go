package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// gather returns what Lines shows of writes; a partial line is marked "~".
// "+1s" among the writes moves the clock, "flush" flushes.
func gather(writes ...string) []string {
	var got []string
	now := time.Unix(1000, 0)
	l := NewLines(func(line []byte, partial bool) {
		mark := ""
		if partial {
			mark = "~"
		}
		got = append(got, mark+string(line))
	})
	l.Now = func() time.Time { return now }
	for _, w := range writes {
		switch w {
		case "+1s":
			now = now.Add(time.Second)
		case "flush":
			l.Flush()
		default:
			fmt.Fprint(l, w)
		}
	}
	return got
}

func TestLines(t *testing.T) {
	tests := []struct {
		name   string
		writes []string
		want   []string
	}{
		{"lines", []string{"a\nb\n"}, []string{"a", "b"}},
		{"a line in parts", []string{"a", "b", "c\nd"}, []string{"abc"}},
		{"the rest at flush", []string{"a\nb", "flush"}, []string{"a", "~b"}},
		{"nothing to flush", []string{"a\n", "flush", "flush"}, []string{"a"}},
		{"empty lines", []string{"\n\na\n\n"}, []string{"", "", "a", ""}},
		{"CRLF", []string{"a\r\nb\r\n\r\n"}, []string{"a", "b", ""}},
		{"CRLF in two writes", []string{"a\r", "\nb\n"}, []string{"a", "b"}},
		{"CRCRLF", []string{"a\r\r\nb\n"}, []string{"~a", "b"}},
		{"a bar is shown once a second", []string{"\r1%\r2%\r3%", "+1s", "\r4%\r5%\n"}, []string{"~1%", "~3%", "5%"}},
		{"its last state before a newline", []string{"1%\r2%\r3%\r\n"}, []string{"~1%", "3%"}},
		{"its last state before a blank line", []string{"1%\r2%\r3%\r   \n"}, []string{"~1%", "3%"}},
		{"its last state at flush", []string{"1%\r2%\r3%\r", "flush"}, []string{"~1%", "~3%"}},
		{"its last held state at flush", []string{"1%\r2%\r3%\r  ", "flush"}, []string{"~1%", "~3%"}},
		{"a state shown is not repeated", []string{"1%\r\x1b[K\n"}, []string{"~1%"}},
		{"clearing a bar shows nothing", []string{"1%\r    \r", "+1s", "\x1b[K\rdone\n"}, []string{"~1%", "done"}},
		{"a second bar waits too", []string{"1%\r2%\n", "1%\r2%\n"}, []string{"~1%", "2%", "2%"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := gather(tt.writes...); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLongLines(t *testing.T) {
	x := strings.Repeat("x", maxLine)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"exactly full", x + "\n", []string{x}},
		{"one over", x + "y\n", []string{"~" + x, "y"}},
		{"a character on the edge", x[1:] + "é\n", []string{"~" + x[1:], "é"}},
		{"bytes that are no character", x + strings.Repeat("\x80", 3) + "\n", []string{"~" + x, "\x80\x80\x80"}},
		{"twice full, then flushed", x + x, []string{"~" + x, "~" + x}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := gather(tt.in, "flush"); !slices.Equal(got, tt.want) {
				t.Errorf("got %d lines, want %d, or they differ", len(got), len(tt.want))
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\r\nb\rc\n", 2)
	f.Add("\r\r\n\x1b[K\r\n", 1)
	f.Add("10%\r   \r\n\nx", 3)
	f.Fuzz(func(t *testing.T, in string, at int) {
		if at < 0 || at > len(in) {
			t.Skip()
		}
		whole := gather(in, "flush")
		if got := gather(in[:at], in[at:], "flush"); !slices.Equal(got, whole) {
			t.Errorf("in two writes %q, in one %q", got, whole)
		}
		for _, l := range whole {
			if strings.ContainsAny(l, "\r\n") {
				t.Errorf("a line end in %q", l)
			}
		}
	})
}

// Without carriage returns nothing may be left out.
func FuzzLinesKeepText(f *testing.F) {
	f.Add("a\n\nb")
	f.Add("\x1b[K\n  \n")
	f.Fuzz(func(t *testing.T, in string) {
		in = strings.ReplaceAll(in, "\r", "")
		var got strings.Builder
		l := NewLines(func(line []byte, partial bool) {
			got.Write(line)
			if !partial {
				got.WriteByte('\n')
			}
		})
		fmt.Fprint(l, in)
		l.Flush()
		if got.String() != in {
			t.Errorf("got %q of %q", got.String(), in)
		}
	})
}

func BenchmarkLines(b *testing.B) {
	l := NewLines(func([]byte, bool) {})
	chunk := []byte(strings.Repeat("epoch 3 step 1840 loss 2.31 accuracy 0.9552 images/s 12345.6\n", 1000))
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		l.Write(chunk)
	}
}
