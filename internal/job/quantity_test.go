package job

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	tests := []struct {
		in   string
		want time.Duration
		text string
	}{
		{"90s", 90 * time.Second, "90s"},
		{"60s", time.Minute, "1m"},
		{"15m", 15 * time.Minute, "15m"},
		{"1h30m", 90 * time.Minute, "90m"},
		{"2h", 2 * time.Hour, "2h"},
		{"7d", 7 * 24 * time.Hour, "7d"},
		{"1d12h", 36 * time.Hour, "36h"},
		{"0.5d", 12 * time.Hour, "12h"},
		{"250ms", 250 * time.Millisecond, "250ms"},
		{"1.5s", 1500 * time.Millisecond, "1.5s"},
		{"0s", 0, "0s"},
		{"0", 0, "0s"},
		{"36500d", 36500 * 24 * time.Hour, "36500d"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, err := ParseDuration(tt.in)
			if err != nil || got.D() != tt.want || got.String() != tt.text {
				t.Errorf("got %d %q, %v, want %d %q", got, got, err, tt.want, tt.text)
			}
			if back, err := ParseDuration(got.String()); back != got || err != nil {
				t.Errorf("read back: %v, %v", back, err)
			}
		})
	}
}

func TestParseDurationRefuses(t *testing.T) {
	for _, in := range []string{"", "90", "d", "-5s", "-1d", "1d-2h", "NaNd", "Infd", "36501d", "9e99h", "2 h", "soon", "1w", "1dd"} {
		if got, err := ParseDuration(in); err == nil {
			t.Errorf("%q is read as %v", in, got)
		}
	}
}

func TestParseBytes(t *testing.T) {
	tests := []struct {
		in   string
		want Bytes
		text string
	}{
		{"0", 0, "0"},
		{"1", 1, "1"},
		{"1024", 1024, "1Ki"},
		{"512Mi", 512 << 20, "512Mi"},
		{"2Gi", 2 << 30, "2Gi"},
		{"2G", 2e9, "2G"},
		{"2k", 2000, "2k"},
		{"2K", 2000, "2k"},
		{"1.5Gi", 3 << 29, "1536Mi"},
		{"1e3", 1000, "1k"},
		{"1Ti", 1 << 40, "1Ti"},
		{"3P", 3e15, "3P"},
		{"9223372036854775807", 1<<63 - 1, "9223372036854775807"},
		{"9007199254740993k", 9007199254740993000, "9007199254740993k"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, err := ParseBytes(tt.in)
			if err != nil || got != tt.want || got.String() != tt.text {
				t.Errorf("got %d %q, %v, want %d %q", int64(got), got, err, int64(tt.want), tt.text)
			}
			if back, err := ParseBytes(got.String()); back != got || err != nil {
				t.Errorf("read back: %v, %v", back, err)
			}
		})
	}
}

func TestParseBytesRefuses(t *testing.T) {
	for _, in := range []string{"", "Gi", "-1", "-1Gi", "NaN", "Inf", "1e30", "9223372036854775808", "9000Pi", "2GB", "2 Gi", "many"} {
		if got, err := ParseBytes(in); err == nil {
			t.Errorf("%q is read as %d", in, int64(got))
		}
	}
}
