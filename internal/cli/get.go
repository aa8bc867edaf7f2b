package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/report"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/supervisor"
	"muster.dev/muster/internal/ui"
)

func newGetCommand(a *app) *cobra.Command {
	var format string
	var watch bool
	c := &cobra.Command{
		Use: "get [RUN]", Short: "Show a run and its tasks, or a group and its jobs", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			svc, runs, err := a.findAll(c.Context(), args)
			if err != nil {
				return err
			}
			if isGroup(runs, args) {
				return getGroup(c.Context(), a, svc, runs, format, watch)
			}
			r := runs[0]
			if format != "" && format != "wide" {
				return a.print(format, documentOf(r), r.ID)
			}
			draw := func(runs []run.Run) string { return a.drawRun(runs[0], format == "wide") }
			if watch {
				return a.watch(c.Context(), func() ([]run.Run, bool, error) {
					now, err := svc.Get(c.Context(), r.ID)
					return []run.Run{now}, now.Done(), err
				}, draw)
			}
			fmt.Fprint(a.stdout, draw([]run.Run{r}))
			return nil
		},
	}
	formatFlag(c, &format, "json|yaml|wide|name")
	watchFlag(c, &watch)
	return c
}

// getGroup shows the jobs of a group.
func getGroup(ctx context.Context, a *app, svc run.Service, runs []run.Run, format string, watch bool) error {
	if format != "" && format != "wide" {
		return a.print(format, documentsOf(runs), idsOf(runs)...)
	}
	draw := func(runs []run.Run) string { return a.drawJobs(runs, format == "wide") }
	if watch {
		return a.watch(ctx, func() ([]run.Run, bool, error) {
			now, err := groupNamed(ctx, svc, runs[0].Group.ID)
			if err == nil && len(now) == 0 {
				err = problem.New(problem.NotFound, "the runs of %s have been removed", runs[0].Group.ID)
			}
			return now, !slices.ContainsFunc(now, func(r run.Run) bool { return !r.Done() }), err
		}, draw)
	}
	_, err := fmt.Fprint(a.stdout, draw(runs))
	return err
}

func idsOf(runs []run.Run) []string {
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	return ids
}

// drawRun is a run, its tasks, and where its files are.
func (a *app) drawRun(r run.Run, wide bool) string {
	st := ui.Detect(a.stdout, a.env)
	code := ""
	if r.Origin.Commit != "" {
		code = "code " + r.CodeName() + "\n"
	}
	tasks := ""
	if rows := taskRows(r); len(rows) > 1 { // one that never started has had none
		tasks = st.Table(st.Narrow(rows, "TRY", "STARTED", "CPU", "PID", "MEM", "TOOK")) + "\n"
	}
	return fmt.Sprintf("%s\n%s%skept in %s\n", a.psTable([]run.Run{r}, wide), tasks, clean(code), r.Origin.RunDir)
}

// taskRows are the tasks of a run, or those that it will have. Where they serve
// is only shown of those that do.
func taskRows(r run.Run) [][]string {
	head := []string{"TASK", "STATE", "TRY", "PID", "STARTED", "TOOK", "CPU", "MEM", "HOW IT ENDED"}
	serves := slices.ContainsFunc(r.Tasks, func(i engine.Instance) bool { return len(i.Listen) > 0 })
	if serves {
		head = slices.Insert(head, 2, "LISTENS ON")
	}
	rows := [][]string{head}
	if len(r.Tasks) == 0 && !r.Done() {
		for _, t := range r.Spec.Tasks() {
			rows = append(rows, []string{t.String(), "waiting", "-", "-", "-", "-", "-", "-", ""})
		}
	}
	for _, i := range r.Tasks {
		took, ended, cpu, mem := "-", "", "-", "-"
		if !i.Started.IsZero() && !i.Ended.IsZero() {
			took = ui.Took(i.Ended.Sub(i.Started))
		}
		if i.State.Gone() {
			ended = supervisor.Describe(i)
			if i.Note != "" {
				ended += "; " + i.Note
			}
		} else if i.Usage.Memory > 0 {
			cpu, mem = fmt.Sprintf("%.0f%%", 100*i.Usage.CPU), ui.ShortBytes(i.Usage.Memory)
		}
		row := []string{i.Task.String(), string(i.State), fmt.Sprintf("%d.%d", i.Attempt, i.Try), pid(i), started(i), took, cpu, mem, ended}
		if serves {
			row = slices.Insert(row, 2, addresses(i))
		}
		rows = append(rows, row)
	}
	return rows
}

// addresses are where a task serves now.
func addresses(i engine.Instance) string {
	if i.State.Gone() || len(i.Listen) == 0 {
		return "-"
	}
	return strings.Join(report.Addresses(i), " ")
}

func pid(i engine.Instance) string {
	if i.Pid == 0 {
		return "-"
	}
	return fmt.Sprint(i.Pid)
}

func started(i engine.Instance) string {
	if i.Started.IsZero() {
		return "-"
	}
	return ui.Clock(i.Started.Local())
}
