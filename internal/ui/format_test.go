package ui

import (
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	const s, m, h = time.Second, time.Minute, time.Hour
	tests := []struct {
		d                      time.Duration
		took, age, ago, timing string
	}{
		{-s, "0.0s", "0s", "just now", "0:00"},
		{0, "0.0s", "0s", "just now", "0:00"},
		{100 * time.Millisecond, "0.1s", "0s", "just now", "0:00"},
		{5 * s, "5.0s", "5s", "5s ago", "0:05"},
		{9940 * time.Millisecond, "9.9s", "9s", "9s ago", "0:09"},
		{9960 * time.Millisecond, "10s", "9s", "9s ago", "0:09"},
		{41900 * time.Millisecond, "41s", "41s", "41s ago", "0:41"},
		{m, "1m00s", "1m", "1m ago", "1:00"},
		{3*m + 12*s, "3m12s", "3m", "3m ago", "3:12"},
		{h - 1, "59m59s", "59m", "59m ago", "59:59"},
		{2*h + 4*m + 9*s, "2h04m", "2h", "2h ago", "2:04:09"},
		{24 * h, "1d0h", "1d", "1d ago", "24:00:00"},
		{170 * h, "7d2h", "7d", "7d ago", "170:00:00"},
	}
	for _, tt := range tests {
		t.Run(tt.d.String(), func(t *testing.T) {
			got := [4]string{Took(tt.d), Age(tt.d), Ago(tt.d), Timer(tt.d)}
			if want := [4]string{tt.took, tt.age, tt.ago, tt.timing}; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestTimesOfDay(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 25, 2, 162_900_000, time.UTC)
	if got := Clock(at); got != "03:25:02.16" {
		t.Errorf("Clock: %s", got)
	}
	if got := Stamp(at); got != "03:25:02.162" {
		t.Errorf("Stamp: %s", got)
	}
}

func TestBytes(t *testing.T) {
	tests := []struct {
		n           int64
		long, short string
	}{
		{-1, "0 B", "0"},
		{0, "0 B", "0"},
		{999, "999 B", "999"},
		{1000, "1.0 KB", "1.0K"},
		{9949, "9.9 KB", "9.9K"},
		{9960, "10 KB", "10K"},
		{21_300, "21 KB", "21K"},
		{61_000, "61 KB", "61K"},
		{999_499, "999 KB", "999K"},
		{999_600, "1.0 MB", "1.0M"},
		{123_400_000, "123 MB", "123M"},
		{8_000_000_000, "8.0 GB", "8.0G"},
		{1<<63 - 1, "9.2 EB", "9.2E"},
	}
	for _, tt := range tests {
		t.Run(tt.short, func(t *testing.T) {
			if got := Bytes(tt.n); got != tt.long {
				t.Errorf("Bytes(%d): got %q, want %q", tt.n, got, tt.long)
			}
			if got := ShortBytes(tt.n); got != tt.short {
				t.Errorf("ShortBytes(%d): got %q, want %q", tt.n, got, tt.short)
			}
		})
	}
}

func TestNames(t *testing.T) {
	seven := []string{"worker-0", "server-0", "c", "d", "e", "f", "g"}
	tests := []struct {
		n, show int
		want    string
	}{
		{0, 2, ""},
		{1, 2, "worker-0"},
		{2, 2, "worker-0 and server-0"},
		{3, 2, "worker-0, server-0 and c"},
		{4, 2, "worker-0, server-0 and 2 others"},
		{7, 2, "worker-0, server-0 and 5 others"},
		{7, 0, "worker-0 and 6 others"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			if got := Names(seven[:tt.n], tt.show); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
