package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

func newResizeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "resize RUN ROLE=N...", Short: "Give a run's roles other sizes: suspend it, and resume it with them", Args: cobra.MinimumNArgs(2),
		Long: "Resize ends a run's tasks, as a gang cannot take in or lose members while it runs, and starts it\n" +
			"again with other sizes: another attempt, with the same checkpoints, that costs no restart.",
		Example: "  muster resize train worker=4 server=2",
		RunE: func(c *cobra.Command, args []string) error {
			sizes, err := parseSizes(c, args[1:])
			if err != nil {
				return err
			}
			return a.each(c.Context(), args[:1], func(svc run.Service, r run.Run) error {
				return resizeRun(c.Context(), a, svc, r, sizes)
			})
		},
	}
}

func parseSizes(c *cobra.Command, args []string) (map[string]int, error) {
	sizes := map[string]int{}
	for _, arg := range args {
		role, n, ok := strings.Cut(arg, "=")
		size, err := strconv.Atoi(n)
		if !ok || err != nil || size < 0 || role == "" {
			return nil, usageError(c, "%s: write ROLE=N, as worker=4", arg)
		}
		sizes[role] = size
	}
	return sizes, nil
}

func resizeRun(ctx context.Context, a *app, svc run.Service, r run.Run, sizes map[string]int) error {
	change := run.Intent{Want: run.WantSuspend, By: "muster resize", Sizes: sizes}
	// Asked while it runs, only to hear what is wrong: a conflict is that it runs.
	if _, err := svc.Update(ctx, r.ID, change); err != nil && problem.KindOf(err) != problem.Conflict {
		return err
	}
	if err := suspendRun(ctx, a, svc, r, false); err != nil {
		return err
	}
	r, err := svc.Get(ctx, r.ID)
	if err != nil {
		return err
	}
	if _, err := svc.Update(ctx, r.ID, change); err != nil {
		return err
	}
	return resumeRun(ctx, a, svc, r, false)
}
