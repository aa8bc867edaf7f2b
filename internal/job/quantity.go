package job

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Duration is written 90s, 15m, 2h or 7d.
type Duration time.Duration

// D returns d as the standard library's type.
func (d Duration) D() time.Duration { return time.Duration(d) }

func (d Duration) String() string {
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if d != 0 && d.D()%u.size == 0 {
			return strconv.FormatInt(int64(d.D()/u.size), 10) + u.name
		}
	}
	return d.D().String()
}

// MarshalText writes d as a job file has it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads 90s, 1h30m, 7d.
func (d *Duration) UnmarshalText(b []byte) (err error) {
	*d, err = ParseDuration(string(b))
	return err
}

// ParseDuration reads 90s, 1h30m, 7d; never a negative one.
func ParseDuration(s string) (Duration, error) {
	bad := fmt.Errorf("%q is not a duration (write 90s, 15m, 2h or 7d)", s)
	rest, days := s, 0.0
	if n, after, ok := strings.Cut(s, "d"); ok {
		v, err := strconv.ParseFloat(n, 64)
		if err != nil || !(v >= 0 && v <= 36500) { // so that NaN is refused too
			return 0, bad
		}
		rest, days = after, v
	}
	var d time.Duration
	if rest != "" {
		var err error
		if d, err = time.ParseDuration(rest); err != nil || d < 0 {
			return 0, bad
		}
	}
	if s == "" {
		return 0, bad
	}
	total := days*float64(24*time.Hour) + float64(d)
	if total > math.MaxInt64/2 {
		return 0, bad
	}
	return Duration(days*float64(24*time.Hour)) + Duration(d), nil
}

// Bytes is a size, written as in Kubernetes: 2G is 2·10⁹, 2Gi is 2·2³⁰.
type Bytes int64

var byteUnits = []struct {
	name string
	size int64
}{
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}, {"Pi", 1 << 50},
	{"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15},
}

func (b Bytes) String() string {
	for i := len(byteUnits) - 1; i >= 0; i-- {
		if u := byteUnits[i]; b != 0 && u.name != "K" && int64(b)%u.size == 0 {
			return strconv.FormatInt(int64(b)/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// MarshalText writes b as a job file has it.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads 512Mi, 2G or a plain number of bytes.
func (b *Bytes) UnmarshalText(t []byte) (err error) {
	*b, err = ParseBytes(string(t))
	return err
}

// ParseBytes reads 512Mi, 2G or a plain number of bytes.
func ParseBytes(s string) (Bytes, error) {
	num, unit := s, int64(1)
	for _, u := range byteUnits {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			num, unit = n, u.size
			break
		}
	}
	if n, err := strconv.ParseInt(num, 10, 64); err == nil && n >= 0 && n <= math.MaxInt64/unit {
		return Bytes(n * unit), nil // exact, where a float would round
	}
	v, err := strconv.ParseFloat(num, 64)
	if err != nil || v < 0 || math.IsNaN(v) || v*float64(unit) >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a size (write 512Mi, 2Gi or 2G)", s)
	}
	return Bytes(v * float64(unit)), nil
}
