//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// Samples are measurements of one thing, in one unit.
type Samples []float64

// Median is the middle one, or the mean of the two in the middle.
func (s Samples) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	m := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[m-1] + sorted[m]) / 2
	}
	return sorted[m]
}

// A contender takes part in a race.
type contender struct {
	name string
	// once does the thing once. It may measure more than one value; the
	// first is what counts unless a figure says otherwise.
	once func() ([]float64, error)
	// every says that it takes part in every so many rounds only: it is slow.
	every int
	// peer says that it is not ours: when it does not work here it is absent.
	peer bool
}

// A result is what a contender has measured, by value.
type result struct {
	values []Samples
	absent string // why a peer did not take part
}

func (r result) of(i int) Samples {
	if i >= len(r.values) {
		return nil
	}
	return r.values[i]
}

// race lets the contenders take turns, and returns their results by name. The
// first round warms caches and does not count.
func race(rounds int, contenders []contender) (map[string]result, error) {
	results := map[string]result{}
	for round := range rounds + 1 {
		for _, c := range contenders {
			r := results[c.name]
			if r.absent != "" || round > 0 && (round-1)%max(c.every, 1) != 0 {
				continue
			}
			values, err := c.once()
			if err != nil && c.peer && round == 0 {
				r.absent = firstLine(err)
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			if round > 0 {
				r.add(values)
			}
			results[c.name] = r
		}
	}
	return results, nil
}

func (r *result) add(values []float64) {
	for i, v := range values {
		if i == len(r.values) {
			r.values = append(r.values, nil)
		}
		r.values[i] = append(r.values[i], v)
	}
}

func firstLine(err error) string {
	text := err.Error()
	for i, c := range text {
		if c == '\n' {
			return text[:i]
		}
	}
	return text
}

// ms is a duration in milliseconds.
func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// timed is how long do takes, in milliseconds.
func timed(do func() error) ([]float64, error) {
	began := time.Now()
	err := do()
	return []float64{ms(time.Since(began))}, err
}

// await polls until ok, at most for a while.
func await(what string, ok func() bool) error {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if ok() {
			return nil
		}
		time.Sleep(500 * time.Microsecond)
	}
	return fmt.Errorf("%s: not within 30 s", what)
}

var errWrong = errors.New("not what it should be")

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
