package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

func newSuspendCommand(a *app) *cobra.Command {
	var noWait bool
	c := &cobra.Command{
		Use: "suspend RUN...", Short: "End the tasks of runs and keep the runs, to be resumed later", Args: cobra.MinimumNArgs(1),
		Long: "Suspend ends a run's tasks as stop does, gives back its slots and GPUs, and keeps the run.\n" +
			"What it has in $MUSTER_CHECKPOINT_DIR is there again when muster resume starts it anew.",
		RunE: func(c *cobra.Command, args []string) error {
			return a.each(c.Context(), args, func(svc run.Service, r run.Run) error {
				return suspendRun(c.Context(), a, svc, r, noWait)
			})
		},
	}
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until its tasks have ended")
	return c
}

func suspendRun(ctx context.Context, a *app, svc run.Service, r run.Run, noWait bool) error {
	if r.Phase != run.Suspended {
		if _, err := svc.Update(ctx, r.ID, run.Intent{Want: run.WantSuspend, By: "muster suspend"}); err != nil {
			return err
		}
	}
	if noWait {
		return nil
	}
	r, err := until(ctx, svc, r, func(r run.Run) bool { return r.Phase == run.Suspended })
	if err == nil {
		fmt.Fprintf(a.stderr, "muster: %s %s\n", r.ID, status(r))
	}
	return err
}

func newResumeCommand(a *app) *cobra.Command {
	var noWait bool
	c := &cobra.Command{
		Use: "resume RUN...", Short: "Start suspended runs again, as another attempt that costs no restart", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.each(c.Context(), args, func(svc run.Service, r run.Run) error {
				return resumeRun(c.Context(), a, svc, r, noWait)
			})
		},
	}
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until it runs")
	return c
}

func resumeRun(ctx context.Context, a *app, svc run.Service, r run.Run, noWait bool) error {
	if r.Phase != run.Suspended && r.Intent.Want != run.WantSuspend {
		return problem.New(problem.Conflict, "%s is not suspended: %s", r.ID, r.Phase)
	}
	if _, err := svc.Update(ctx, r.ID, run.Intent{Want: run.WantRun, By: "muster resume"}); err != nil || noWait {
		return err
	}
	before := r.Attempt
	r, err := until(ctx, svc, r, func(r run.Run) bool {
		return r.Phase != run.Suspended && underWay(r) && (r.Attempt > before || r.Phase == run.Pending)
	})
	if err == nil {
		fmt.Fprintf(a.stderr, "muster: %s\n", plain(r))
	}
	return err
}

// until watches a run until it is as cond wants it, or has ended.
func until(ctx context.Context, svc run.Service, r run.Run, cond func(run.Run) bool) (run.Run, error) {
	enough := errors.New("enough")
	err := svc.Watch(ctx, r.ID, func(now run.Run) error {
		r = now
		if cond(r) {
			return enough
		}
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return r, err
}
