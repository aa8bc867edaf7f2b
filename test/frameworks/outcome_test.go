//go:build linux

package frameworks

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/report"
	"muster.dev/muster/internal/run"
)

// succeeded checks that the run did.
func (o outcome) succeeded() {
	o.t.Helper()
	if o.run.Phase != run.Succeeded || o.exit != 0 {
		o.t.Fatalf("%s with exit %d, want Succeeded with 0: %s", o.run.Phase, o.exit, o.run.Verdict.Headline)
	}
}

// failed checks that the run failed because of a task, in these words.
func (o outcome) failed(exit int, task, what string) engine.Instance {
	o.t.Helper()
	v := o.run.Verdict
	if v.Phase != run.Failed || o.exit != exit {
		o.t.Errorf("%s with exit %d, want Failed with %d", v.Phase, o.exit, exit)
	}
	if v.First == nil || v.First.Task == nil || v.First.Instance == nil {
		o.t.Fatalf("the verdict names no task: %s", v.Headline)
	}
	if got := v.First.Task.String(); got != task || v.First.What != what {
		o.t.Errorf("verdict: %s %s\nwant:    %s %s", got, v.First.What, task, what)
	}
	if want := " failed after "; !strings.Contains(string(o.stderr.bytes()), want) {
		o.t.Errorf("muster run does not say %q", want)
	}
	return *v.First.Instance
}

// raisedAndHung checks an instance that raised and did not end by itself, and
// that it was given up within the five seconds we promise. These are times in
// the record, not on our clock.
func (o outcome) raisedAndHung(i engine.Instance) {
	o.t.Helper()
	if i.Raised == nil || !i.Raised.Hung {
		o.t.Fatalf("%s is not known to have raised and hung: %+v", i.Task, i.Raised)
	}
	if i.Raised.After <= 0 || i.Raised.After >= 5*time.Second {
		o.t.Errorf("it was ended after %s, want less than 5s", i.Raised.After)
	}
	if at := i.Raised.At; at.Before(i.Started) || i.Ended.Before(at) || o.run.Ended.Before(i.Ended) {
		o.t.Errorf("out of order: started %s, raised %s, ended %s, run ended %s", i.Started, at, i.Ended, o.run.Ended)
	}
}

// ending returns what muster why shows of the end of the task's output.
func (o outcome) ending(task string) string {
	o.t.Helper()
	var rep report.Report
	o.ask(&rep, "why", "-o", "json")
	for _, f := range rep.Facts {
		if f.Task == task {
			return strings.Join(f.Lines, "\n")
		}
	}
	o.t.Errorf("muster why shows no output of %s", task)
	return ""
}

// printed returns what the task has printed after each line's prefix.
func (o outcome) printed(task string) []string {
	prefixed := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(task) + ` +\| (.*)$`)
	var lines []string
	for _, m := range prefixed.FindAllSubmatch(o.stdout.bytes(), -1) {
		lines = append(lines, string(m[1]))
	}
	return lines
}

// accuracy returns what worker-0 printed of it.
func (o outcome) accuracy() float64 {
	o.t.Helper()
	for _, line := range o.printed("worker-0") {
		if s, ok := strings.CutPrefix(line, "accuracy "); ok {
			a, err := strconv.ParseFloat(s, 64)
			if err != nil {
				o.t.Fatal(err)
			}
			return a
		}
	}
	o.t.Fatal("worker-0 printed no accuracy")
	return 0
}

// kept checks that a file is among the run's outputs.
func (o outcome) kept(name string) {
	o.t.Helper()
	st, err := os.Stat(filepath.Join(o.run.Origin.RunDir, "outputs", name))
	if err != nil || st.Size() == 0 {
		o.t.Errorf("%s was not kept: %v", name, err)
	}
	if !strings.Contains(string(o.stderr.bytes()), name) {
		o.t.Errorf("muster run does not say that %s was kept", name)
	}
}

// raisedAt returns when a task raised.
func (o outcome) raisedAt(task string) time.Time {
	o.t.Helper()
	for _, i := range o.run.Tasks {
		if i.Task.String() == task && i.Raised != nil {
			return i.Raised.At
		}
	}
	o.t.Fatalf("%s is not known to have raised", task)
	return time.Time{}
}
