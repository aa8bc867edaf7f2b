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
	c := &cobra.Command{
		Use: "get [RUN]", Short: "Show a run and its tasks", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			_, r, err := a.find(c.Context(), args)
			if err != nil {
				return err
			}
			if format != "" && format != "wide" {
				return a.print(format, r, r.ID)
			}
			st := ui.Detect(a.stdout, a.env)
			fmt.Fprint(a.stdout, st.Table(psRows([]run.Run{r}, format == "wide", time.Now())), "\n", st.Table(taskRows(r)))
			fmt.Fprintf(a.stdout, "\nkept in %s\n", r.Origin.RunDir)
			return nil
		},
	}
	formatFlag(c, &format, "json|yaml|wide|name")
	return c
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
