package run

import (
	"testing"
	"time"
)

func ended(job string, at int, p Phase, code int, skipped bool) Run {
	return Run{
		ID: job, Phase: p, Reason: "it " + string(p), Ended: time.Unix(int64(at), 0), Group: &Group{ID: "g", Job: job},
		Verdict: &Verdict{Phase: p, Exit: Exit{Code: code}, Skipped: skipped},
	}
}

func TestFold(t *testing.T) {
	for name, c := range map[string]struct {
		runs  []Run
		phase Phase
		code  int
		why   string
	}{
		"all succeeded":              {[]Run{ended("a", 1, Succeeded, 0, false), ended("b", 2, Succeeded, 0, false)}, Succeeded, 0, "all 2 jobs succeeded"},
		"one still runs":             {[]Run{ended("a", 1, Failed, 3, false), {ID: "b", Phase: Pending}}, Running, 0, ""},
		"the first failure is named": {[]Run{ended("a", 9, Failed, 3, false), ended("b", 2, Failed, 7, false), ended("c", 3, Stopped, 125, true)}, Failed, 7, "b failed: it Failed"},
		"a stop":                     {[]Run{ended("a", 1, Succeeded, 0, false), ended("b", 2, Stopped, 143, false)}, Stopped, 143, "b was it Stopped"},
		"a skip is no stop":          {[]Run{ended("a", 1, Failed, 1, false), ended("b", 0, Stopped, 125, true)}, Failed, 1, "a failed: it Failed"},
	} {
		phase, why, exit := Fold(c.runs)
		if phase != c.phase || exit.Code != c.code || why != c.why {
			t.Errorf("%s: %s %d %q", name, phase, exit.Code, why)
		}
	}
}
