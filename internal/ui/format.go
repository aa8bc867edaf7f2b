package ui

import (
	"fmt"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Took says how long something lasted: 5.0s, 41s, 3m12s, 2h04m, 7d2h.
func Took(d time.Duration) string {
	d = max(d, 0)
	if tenths := d.Round(100 * time.Millisecond); tenths < 10*time.Second {
		return fmt.Sprintf("%.1fs", tenths.Seconds())
	}
	d = max(d, 10*time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
}

// Age is the coarsest unit of d: 5s, 10m, 2h, 3d.
func Age(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

// Ago is an age in a sentence: 2s ago, just now.
func Ago(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return Age(d) + " ago"
}

// Timer is a running time that keeps its width as it counts: 0:04, 12:30, 2:04:09.
func Timer(d time.Duration) string {
	s := max(d, 0) / time.Second
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Clock is a time of day in a report: 03:25:02.16.
func Clock(t time.Time) string { return t.Format("15:04:05.00") }

// Stamp is a time of day before a log line: 03:25:02.162.
func Stamp(t time.Time) string { return t.Format("15:04:05.000") }

// Bytes is a size in a sentence, in powers of 1000 as sizes in job files are:
// 512 B, 21 KB, 1.5 GB.
func Bytes(n int64) string {
	number, unit := scale(n)
	return number + " " + unit + "B"
}

// ShortBytes is a size in a column: 512, 61K, 123M, 8.0G.
func ShortBytes(n int64) string {
	number, unit := scale(n)
	return number + unit
}

// scale gives two or three digits of n and their unit.
func scale(n int64) (number, unit string) {
	if n < 1000 {
		return fmt.Sprint(max(n, 0)), ""
	}
	v, units := float64(n), "KMGTPE"
	for i := range units {
		v /= 1000
		switch {
		case v < 9.95:
			return fmt.Sprintf("%.1f", v), units[i : i+1]
		case v < 999.5:
			return fmt.Sprintf("%.0f", v), units[i : i+1]
		}
	}
	return fmt.Sprintf("%.0f", v), "E"
}

// Names lists names for a sentence, at most show of them: worker-0, server-0
// and 5 others. A single other is named instead of counted.
func Names(names []string, show int) string {
	n := len(names)
	show = max(show, 1)
	if n > show+1 {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:show], ", "), n-show)
	}
	if n < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
}
