package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/supervisor"
	"muster.dev/muster/internal/ui"
)

func newGetCommand(a *app) *cobra.Command {
	var format string
	var watch bool
	c := &cobra.Command{
		Use: "get [RUN]", Short: "Show a run and its tasks", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			svc, r, err := a.find(c.Context(), args)
			if err != nil {
				return err
			}
			if format != "" && format != "wide" {
				return a.print(format, r, r.ID)
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

// drawRun is a run, its tasks, and where its files are.
func (a *app) drawRun(r run.Run, wide bool) string {
	st := ui.Detect(a.stdout, a.env)
	code := ""
	if r.Origin.Commit != "" {
		code = "code " + r.CodeName() + "\n"
	}
	return fmt.Sprintf("%s\n%s\n%skept in %s\n", st.Table(psRows([]run.Run{r}, wide, time.Now())), st.Table(taskRows(r)), clean(code), r.Origin.RunDir)
}

func taskRows(r run.Run) [][]string {
	rows := [][]string{{"TASK", "STATE", "TRY", "PID", "STARTED", "TOOK", "CPU", "MEM", "HOW IT ENDED"}}
	for _, i := range r.Tasks {
		took, ended, cpu, mem := "-", "", "-", "-"
		if !i.Started.IsZero() && !i.Ended.IsZero() {
			took = ui.Took(i.Ended.Sub(i.Started))
		}
		if i.State.Gone() {
			ended = supervisor.Describe(i)
		} else if i.Usage.Memory > 0 {
			cpu, mem = fmt.Sprintf("%.0f%%", 100*i.Usage.CPU), ui.ShortBytes(i.Usage.Memory)
		}
		rows = append(rows, []string{i.Task.String(), string(i.State), fmt.Sprintf("%d.%d", i.Attempt, i.Try), pid(i), started(i), took, cpu, mem, ended})
	}
	return rows
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
