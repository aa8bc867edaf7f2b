package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

type psOptions struct {
	all    bool
	format string
}

// recent is how many ended runs ps shows besides the active ones.
const recent = 10

func newPsCommand(a *app) *cobra.Command {
	var o psOptions
	c := &cobra.Command{
		Use: "ps", Short: "List runs: the active ones, then the last 10", Args: cobra.NoArgs, Aliases: []string{"list", "ls"},
		RunE: func(c *cobra.Command, _ []string) error { return runPs(c.Context(), a, o) },
	}
	c.Flags().BoolVarP(&o.all, "all", "a", false, "all runs")
	formatFlag(c, &o.format, "json|yaml|wide|name")
	return c
}

func runPs(ctx context.Context, a *app, o psOptions) error {
	svc, err := a.open()
	if err != nil {
		return err
	}
	runs, err := listRuns(ctx, svc, o.all)
	if err != nil {
		return err
	}
	var names []string
	for _, r := range runs {
		names = append(names, r.ID)
	}
	if o.format != "" && o.format != "wide" {
		if runs == nil {
			runs = []run.Run{}
		}
		return a.print(o.format, runs, names...)
	}
	if len(runs) == 0 {
		fmt.Fprintln(a.stderr, "no runs yet: muster run -- COMMAND")
		return nil
	}
	fmt.Fprint(a.stdout, ui.Detect(a.stdout, a.env).Table(psRows(runs, o.format == "wide", time.Now())))
	return nil
}

// listRuns returns the active runs and the last few that have ended, or all.
func listRuns(ctx context.Context, svc run.Service, all bool) ([]run.Run, error) {
	if all {
		page, err := svc.List(ctx, run.Query{})
		return page.Runs, err
	}
	active, err := svc.List(ctx, run.Query{Active: true})
	if err != nil {
		return nil, err
	}
	runs := active.Runs
	last, err := svc.List(ctx, run.Query{Limit: recent + len(runs)})
	ended := 0
	for _, r := range last.Runs {
		if r.Done() && ended < recent {
			runs = append(runs, r)
			ended++
		}
	}
	return runs, err
}

func psRows(runs []run.Run, wide bool, now time.Time) [][]string {
	head := []string{"RUN", "STATUS", "TASKS", "ATTEMPT", "AGE", "TOOK", "WHERE", "REASON"}
	if wide {
		head = []string{"RUN", "STATUS", "TASKS", "ATTEMPT", "AGE", "TOOK", "WHERE", "NODE", "FRAMEWORK", "GPUS", "CODE", "EXIT", "FILE", "REASON"}
	}
	rows := [][]string{head}
	for _, r := range runs {
		row := []string{r.ID, status(r), fmt.Sprintf("%d/%d", running(r.Tasks), len(r.Spec.Tasks())), attempts(r), ui.Age(now.Sub(r.Created)), tookSoFar(r, now), r.Engine}
		if wide {
			row = append(row, dash(r.Origin.Node), r.Spec.Framework.Name, gpusOf(r), codeOf(r), exitWord(r), dash(r.Origin.File))
		}
		rows = append(rows, append(row, reason(r)))
	}
	return rows
}

func status(r run.Run) string {
	if r.Phase == run.Failed && r.Verdict != nil {
		return fmt.Sprintf("Failed (%d)", r.Verdict.Exit.Code)
	}
	return string(r.Phase)
}

// attempts is how many attempts were begun, of how many there can be.
func attempts(r run.Run) string {
	if r.Attempt == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", r.Attempt, max(r.Attempt, 1+r.Spec.Restart.Limit))
}

func tookSoFar(r run.Run, now time.Time) string {
	switch {
	case r.Started.IsZero():
		return "-"
	case r.Done():
		return ui.Took(r.Took)
	}
	return ui.Took(max(now.Sub(r.Started), 0))
}

func reason(r run.Run) string {
	if r.Reason != "" {
		return r.Reason
	}
	if s := leastSilent(r); r.Phase == run.Running && s >= time.Minute {
		return "silent " + ui.Took(s)
	}
	return ""
}

func codeOf(r run.Run) string {
	if r.Origin.Code == "" {
		return "in place"
	}
	return fmt.Sprintf("@%.6s", r.Origin.Code)
}

// gpusOf is how many GPUs all tasks together ask for.
func gpusOf(r run.Run) string {
	n := 0
	for name, role := range r.Spec.Roles {
		n += r.Spec.Replicas(name) * role.Resources.GPUs
	}
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func exitWord(r run.Run) string {
	if r.Verdict == nil {
		return "-"
	}
	return strconv.Itoa(r.Verdict.Exit.Code)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
