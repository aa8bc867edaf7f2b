package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// completes makes a command complete the names of runs, tasks and the like.
func (a *app) completes(c *cobra.Command) {
	name, _, _ := strings.Cut(c.Use, " ")
	switch {
	case name == "cp":
		c.ValidArgsFunction = a.completeFiles
	case name == "completion":
	case name == "init":
		c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return onlyFirst(args, job.Frameworks), cobra.ShellCompDirectiveNoFileComp
		}
	case strings.Contains(c.Use, "RUN"):
		c.ValidArgsFunction = a.completeRuns
	case strings.Contains(c.Use, "FILE"), strings.Contains(c.Use, "COMMAND"):
	default:
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	for flag, complete := range map[string]cobra.CompletionFunc{
		"task": a.completeTasks, "show": a.completeTasks, "group": a.completeGroups,
		"container": cobra.FixedCompletions([]string{"auto", "never"}, cobra.ShellCompDirectiveNoFileComp),
		"framework": cobra.FixedCompletions(job.Frameworks, cobra.ShellCompDirectiveNoFileComp),
		"isolation": cobra.FixedCompletions([]string{"auto", "none"}, cobra.ShellCompDirectiveNoFileComp),
	} {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, complete) // fails only for a flag that is not there
		}
	}
	if f := c.Flags().Lookup("output"); f != nil {
		formats := strings.Split(strings.TrimPrefix(f.Usage, "format: "), "|")
		_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	}
}

func onlyFirst(args, words []string) []string {
	if len(args) > 0 {
		return nil
	}
	return words
}

// known are the runs that a name could mean. Completion never fails: without
// them there is just nothing to offer.
func (a *app) known(c *cobra.Command) []run.Run {
	svc, err := a.open()
	if err != nil {
		return nil
	}
	runs, _ := listRuns(c.Context(), svc, psOptions{})
	return runs
}

// completeRuns offers the runs that ps shows, with how they stand.
func (a *app) completeRuns(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 && c.Name() == "resize" {
		return a.completeRoles(c, args)
	}
	if len(args) > 0 && !strings.Contains(c.Use, "...") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, r := range a.known(c) {
		if fits(c.Name(), r) && !slices.Contains(args, r.ID) {
			words = append(words, fmt.Sprintf("%s\t%s %s", r.ID, status(r), reason(r)))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// fits says that a command has something to do for a run.
func fits(command string, r run.Run) bool {
	switch command {
	case "stop", "suspend", "attach":
		return !r.Done()
	case "resume":
		return r.Phase == run.Suspended
	case "rm":
		return r.Done()
	}
	return true
}

// completeRoles offers the roles of a run, for a size each.
func (a *app) completeRoles(c *cobra.Command, args []string) ([]string, cobra.ShellCompDirective) {
	_, r, err := a.find(c.Context(), args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, role := range r.Spec.RoleNames() {
		words = append(words, role+"=")
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeGroups offers the groups of the runs that ps shows.
func (a *app) completeGroups(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, r := range a.known(c) {
		if r.Group != nil && !slices.Contains(words, r.Group.ID) {
			words = append(words, r.Group.ID)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeTasks offers the tasks and roles of the run that was named, else of
// the newest.
func (a *app) completeTasks(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if c.Name() == "run" {
		return nil, cobra.ShellCompDirectiveNoFileComp // there is none yet
	}
	_, r, err := a.find(c.Context(), args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	words := r.Spec.RoleNames()
	for _, t := range r.Spec.Tasks() {
		words = append(words, t.String())
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeFiles offers RUN:, then the files of that run; then a destination.
func (a *app) completeFiles(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var words []string
	ref, _, named := strings.Cut(typed, ":")
	if !named {
		for _, r := range a.known(c) {
			words = append(words, r.ID+":")
		}
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	_, _, list, err := a.filesOf(c.Context(), []string{ref})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, f := range list {
		words = append(words, ref+":"+f.Path)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
