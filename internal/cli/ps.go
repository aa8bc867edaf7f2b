package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

type psOptions struct {
	all    bool
	watch  bool
	group  string
	labels []string
	format string

	chosen selector
}

// recent is how many ended runs ps shows besides the active ones.
const recent = 10

func newPsCommand(a *app) *cobra.Command {
	var o psOptions
	c := &cobra.Command{
		Use: "ps", Short: "List runs: the active ones, then the last 10", Args: cobra.NoArgs, Aliases: []string{"list", "ls"},
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if o.chosen, err = parseSelector(c, o.labels); err != nil {
				return err
			}
			return runPs(c.Context(), a, o)
		},
	}
	c.Flags().StringVar(&o.group, "group", "", "the runs of this group, by its id or name, in the order in which they run")
	c.Flags().BoolVarP(&o.all, "all", "a", false, "all runs")
	c.Flags().StringArrayVarP(&o.labels, "label", "l", nil, "only runs with this label: team=vision, or team")
	formatFlag(c, &o.format, "json|yaml|wide|name")
	watchFlag(c, &o.watch)
	return c
}

func runPs(ctx context.Context, a *app, o psOptions) error {
	svc, err := a.open()
	if err != nil {
		return err
	}
	sweep(ctx, svc)
	table := func(runs []run.Run) string {
		return a.psTable(runs, o.format == "wide")
	}
	if o.watch {
		return a.watch(ctx, func() ([]run.Run, bool, error) {
			runs, err := listRuns(ctx, svc, o)
			return runs, false, err
		}, table)
	}
	runs, err := listRuns(ctx, svc, o)
	if err != nil {
		return err
	}
	if o.format != "" && o.format != "wide" {
		return a.print(o.format, documentsOf(runs), idsOf(runs)...)
	}
	if len(runs) == 0 {
		fmt.Fprintln(a.stderr, noRuns(o))
		return nil
	}
	_, err = fmt.Fprint(a.stdout, table(runs))
	return err
}

func noRuns(o psOptions) string {
	if len(o.chosen) > 0 {
		return "no runs with -l " + strings.Join(o.chosen, ",")
	}
	return "no runs yet: muster run -- COMMAND"
}

// listRuns returns the active runs and the last few that have ended, or all;
// with labels, of those that have them.
func listRuns(ctx context.Context, svc run.Service, o psOptions) ([]run.Run, error) {
	if o.group != "" {
		runs, err := groupNamed(ctx, svc, o.group)
		if err == nil && len(runs) == 0 {
			err = problem.New(problem.NotFound, "there is no group %s", o.group)
		}
		return runs, err
	}
	if o.all || len(o.chosen) > 0 {
		page, err := svc.List(ctx, run.Query{})
		runs := slices.DeleteFunc(page.Runs, func(r run.Run) bool { return !o.chosen.chooses(r.Spec.Labels) })
		if !o.all {
			runs = append(slices.DeleteFunc(slices.Clone(runs), func(r run.Run) bool { return r.Done() }), lastEnded(runs)...)
		}
		return runs, err
	}
	active, err := svc.List(ctx, run.Query{Active: true})
	if err != nil {
		return nil, err
	}
	last, err := svc.List(ctx, run.Query{Limit: recent + len(active.Runs)})
	return append(stillActive(active.Runs, last.Runs), lastEnded(last.Runs)...), err
}

// stillActive leaves out what has ended between the two looks: it is among the
// last.
func stillActive(active, last []run.Run) []run.Run {
	ended := map[string]bool{}
	for _, r := range last {
		ended[r.ID] = r.Done()
	}
	return slices.DeleteFunc(active, func(r run.Run) bool { return ended[r.ID] })
}

// lastEnded are the first few of runs that have ended.
func lastEnded(runs []run.Run) []run.Run {
	ended := slices.DeleteFunc(slices.Clone(runs), func(r run.Run) bool { return !r.Done() })
	return ended[:min(recent, len(ended))]
}

// psTable is a table of runs. Who asks for a wide one has room for it.
func (a *app) psTable(runs []run.Run, wide bool) string {
	st := ui.Detect(a.stdout, a.env)
	rows := psRows(runs, wide, time.Now())
	if !wide {
		rows = st.Narrow(rows, "WHERE", "ATTEMPT", "AGE", "TASKS", "TOOK")
	}
	return st.Table(rows)
}

// reasonWidth is how much of a reason a list shows where the line has no end: an
// exception may have written a page.
const reasonWidth = 100

func psRows(runs []run.Run, wide bool, now time.Time) [][]string {
	head := []string{"RUN", "STATUS", "TASKS", "ATTEMPT", "AGE", "TOOK", "WHERE", "REASON"}
	if wide {
		head = []string{"RUN", "STATUS", "TASKS", "ATTEMPT", "AGE", "TOOK", "WHERE", "NODE", "FRAMEWORK", "GPUS", "CODE", "EXIT", "FILE", "REASON"}
	}
	rows := [][]string{head}
	for _, r := range runs {
		row := []string{r.ID, status(r), fmt.Sprintf("%d/%d", running(r.Tasks), len(r.Spec.Tasks())), attempts(r), ui.Age(now.Sub(r.Created)), tookSoFar(r, now), r.Engine}
		if wide {
			row = append(row, dash(r.Origin.Node), r.Spec.Framework.Name, gpuWord(gpusOf(r)), codeOf(r), exitWord(r), dash(r.Origin.File))
		}
		why := reason(r)
		if !wide {
			why = ui.Cut(why, reasonWidth, "...")
		}
		rows = append(rows, append(row, why))
	}
	return rows
}

func status(r run.Run) string {
	if r.Skipped() {
		return "Skipped"
	}
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

// gpusOf is how many GPUs all replicas together ask for; the processes of one
// share its.
func gpusOf(r run.Run) int {
	n := 0
	for _, role := range r.Spec.Roles {
		n += role.Replicas * role.Resources.GPUs
	}
	return n
}

func gpuWord(n int) string {
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
