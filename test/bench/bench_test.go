//go:build linux

package main

import (
	"errors"
	"os"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		name string
		of   Samples
		want float64
	}{
		{"of nothing is zero", nil, 0},
		{"of one is that one", Samples{3}, 3},
		{"is the middle one in order", Samples{9, 1, 5}, 5},
		{"of an even number is between the two in the middle", Samples{4, 1, 2, 9}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.of.Median(); got != c.want {
				t.Errorf("median of %v is %g, want %g", c.of, got, c.want)
			}
		})
	}
}

func TestRaceTakesTurns(t *testing.T) {
	var order []string
	runner := func(name string) func() ([]float64, error) {
		return func() ([]float64, error) {
			order = append(order, name)
			return []float64{float64(len(order))}, nil
		}
	}
	results, err := race(4, []contender{
		{name: "a", once: runner("a")},
		{name: "b", once: runner("b"), every: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a", "b", "a", "b", "a", "a", "b", "a"} // the first of each warms up
	if !slices.Equal(order, want) {
		t.Errorf("they ran in the order %v, want %v", order, want)
	}
	if got := results["b"].of(0); !slices.Equal(got, Samples{4, 7}) {
		t.Errorf("b measured %v, want the rounds that count: 4 and 7", got)
	}
}

func TestRaceNamesAbsentPeers(t *testing.T) {
	missing := func() ([]float64, error) { return nil, errors.New("mpirun: not found\nlong story") }
	results, err := race(2, []contender{{name: "peer", once: missing, peer: true}})
	if err != nil {
		t.Fatal(err)
	}
	if got := results["peer"].absent; got != "mpirun: not found" {
		t.Errorf("absent because of %q", got)
	}
	if _, err := race(2, []contender{{name: "ours", once: missing}}); err == nil {
		t.Error("our own failure is no error")
	}
}

func TestTargets(t *testing.T) {
	r := &report{item: items[0]}
	ref := r.add("reference", "ms", Samples{10}, nil)
	for _, c := range []struct {
		name string
		of   float64
		goal target
		met  bool
	}{
		{"at most, reached", 20, atMost(20, "ms"), true},
		{"at most, missed", 21, atMost(20, "ms"), false},
		{"never over, reached", 3, neverOver(3, "fsyncs"), true},
		{"never over, missed", 4, neverOver(3, "fsyncs"), false},
		{"ratio at most, reached", 5, ratioAtMost(0.5), true},
		{"ratio at most, missed", 6, ratioAtMost(0.5), false},
		{"ratio at least, reached", 9, ratioAtLeast(0.9), true},
		{"ratio at least, missed", 8, ratioAtLeast(0.9), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if f := r.add("it", "ms", Samples{c.of}, ref, c.goal); *f.Met != c.met {
				t.Errorf("%g against %g, %s: met is %v", c.of, ref.Median, f.Target, *f.Met)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	if got, err := choose("c,a"); err != nil || len(got) != 2 || got[0].key != "c" || got[1].key != "a" {
		t.Errorf("c,a chose %v, %v", got, err)
	}
	if got, err := choose(""); err != nil || len(got) != len(items) {
		t.Errorf("nothing chose %d items, %v", len(got), err)
	}
	if _, err := choose("a,x"); err == nil {
		t.Error("an unknown item was taken")
	}
}

func TestSameContent(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir + "/" + name
	}
	a, b, c := write("a", "one\ntwo\n"), write("b", "one\ntwo\n"), write("c", "one\ntwo")
	if err := sameContent(a, b); err != nil {
		t.Error(err)
	}
	if err := sameContent(a, c); !errors.Is(err, errWrong) {
		t.Errorf("a byte less was taken for the same: %v", err)
	}
}
