package cli

import (
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// showFlag adds --show.
func showFlag(c *cobra.Command, show *[]string) {
	c.Flags().StringArrayVar(show, "show", nil, "show only the output of this task, role or pattern; all of it is kept")
}

// checkShown refuses a --show that would show nothing, before anything starts.
func checkShown(s *job.Spec, show []string) error {
	tasks := s.Tasks()
	for _, pattern := range show {
		if _, err := path.Match(pattern, ""); err != nil {
			return problem.New(problem.Invalid, "--show %s: is not a pattern", pattern).WithHint("--show worker-0 or --show 'worker-*'")
		}
		if !slices.ContainsFunc(tasks, func(t job.Task) bool { return namesTask(pattern, t) }) {
			return problem.New(problem.Invalid, "--show %s: the job has no such task", pattern).WithHint("it has %s", taskNames(tasks))
		}
	}
	return nil
}

// namesTask says whether a pattern names a task: its name, its role, or a glob.
func namesTask(pattern string, t job.Task) bool {
	ok, _ := path.Match(pattern, t.String())
	return ok || pattern == t.Role
}

func taskNames(tasks []job.Task) string {
	var names []string
	for _, t := range tasks {
		if names = append(names, t.String()); len(names) == 6 && len(tasks) > 6 {
			names = append(names, "...")
			break
		}
	}
	return strings.Join(names, ", ")
}

// setLabels applies --label.
func setLabels(s *run.Submission, flags []string) error {
	for _, kv := range flags {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return problem.New(problem.Invalid, "--label %s: is no K=V", kv)
		}
		if s.Spec.Labels == nil {
			s.Spec.Labels = map[string]string{}
		}
		s.Spec.Labels[k] = v
	}
	return nil
}

// A selector chooses runs by their labels: all of what it says must hold.
type selector []string

// parseSelector reads k=v, or k for one that has the label whatever it says,
// several with commas between them.
func parseSelector(c *cobra.Command, flags []string) (selector, error) {
	var s selector
	for _, f := range flags {
		for term := range strings.SplitSeq(f, ",") {
			if k, _, _ := strings.Cut(term, "="); k == "" {
				return nil, usageError(c, "-l %s: want K=V or K, with commas between several", f)
			}
			s = append(s, term)
		}
	}
	return s, nil
}

func (s selector) chooses(labels map[string]string) bool {
	for _, term := range s {
		k, v, exact := strings.Cut(term, "=")
		if have, ok := labels[k]; !ok || exact && have != v {
			return false
		}
	}
	return true
}
