//go:build linux

// Command bench measures Muster against its peers and against the bare floor:
//
//	go run ./test/bench [-quick] [-only a,b] [-json FILE]
//
// It builds muster itself. Every figure stands beside a reference that was
// taken in the same run, by turns with it, so that what else the machine does
// falls on both. A target that is missed is printed, and is no error; a lost
// byte, a wrong verdict or a process left behind is.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

// An item is one of the questions that bench answers.
type item struct {
	key   string
	title string
	run   func(*bench) error
}

var items = []item{
	{"a", "a job of 1 scheduler, 2 servers and 4 workers that do nothing", measureStart},
	{"b", "kill -9 of a worker, to the verdict and until all is gone", measureKill},
	{"c", "output of 8 tasks at full speed, against raw files", measureLogs},
	{"d", "a record of 10,000 runs", measureList},
	{"e", "the binary", measureBinary},
	{"f", "200 tasks", measureCrowd},
	{"g", "1,000 runs that wait for 2 slots", measureQueue},
	{"h", "a snapshot of 10,000 small files", measureSnapshot},
}

// A bench is one run of this program.
type bench struct {
	quick  bool
	dir    string // everything we write
	top    string // of the repository
	muster string
	report *report
}

// rounds is n, or less when it has to be quick.
func (b *bench) rounds(n int) int {
	if b.quick {
		return max(3, n/5)
	}
	return n
}

func main() {
	if err := mainError(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func mainError() error {
	quick := flag.Bool("quick", false, "fewer rounds and less output: a look, not a figure to quote")
	only := flag.String("only", "", "letters of the items to measure, as a,c (default all)")
	file := flag.String("json", "", "write the JSON to this file instead of after the table")
	muster := flag.String("muster", "", "measure this binary instead of building one")
	dir := flag.String("dir", "", "where to keep state and logs while measuring (default the temporary directory)")
	flag.Parse()
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	b, err := newBench(*dir, *muster)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	b.quick, b.report.Machine.Quick = *quick, *quick
	for _, i := range chosen {
		fmt.Fprintf(os.Stderr, "bench: (%s) %s\n", i.key, i.title)
		b.report.begin(i)
		if err := i.run(b); err != nil {
			return fmt.Errorf("(%s) %s: %w", i.key, i.title, err)
		}
	}
	b.report.Machine.LoadAfter = loadAverage()
	return b.report.publish(os.Stdout, *file)
}

func choose(only string) ([]item, error) {
	if only == "" {
		return items, nil
	}
	var chosen []item
	for _, key := range strings.Split(only, ",") {
		found := false
		for _, i := range items {
			if i.key == key {
				chosen, found = append(chosen, i), true
			}
		}
		if !found {
			return nil, fmt.Errorf("-only %s: there is no item %q; they are a to h", only, key)
		}
	}
	return chosen, nil
}
