package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

type logsOptions struct {
	q          run.LogQuery
	since      string
	timestamps bool
}

func newLogsCommand(a *app) *cobra.Command {
	var o logsOptions
	c := &cobra.Command{
		Use: "logs [RUN]", Short: "Show what a run's tasks have written", Args: cobra.MaximumNArgs(1),
		Long: "Logs shows what tasks have written, of the newest attempt unless --attempt says otherwise:\n" +
			"stdout on stdout behind |, stderr on stderr behind !. Of a group it shows one job after the\n" +
			"other, with -f all as it comes.",
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.parse(c); err != nil {
				return err
			}
			return runLogs(c.Context(), a, o, args)
		},
	}
	f := c.Flags()
	f.BoolVarP(&o.q.Follow, "follow", "f", false, "go on until the run ends")
	f.StringArrayVar(&o.q.Tasks, "task", nil, "only this task, role or pattern: worker-0, worker, 'worker-*'")
	f.IntVar(&o.q.Attempt, "attempt", 0, "of this attempt, from 1 (default the newest)")
	f.StringVar(&o.since, "since", "", "only what is newer than this: 10m, or a time in RFC 3339")
	f.IntVar(&o.q.Tail, "tail", -1, "only the last lines of each task and stream")
	f.BoolVar(&o.timestamps, "timestamps", false, "when each line was written, to about 25 ms")
	f.BoolVar(&o.q.Raw, "raw", false, "the exact bytes, without prefixes")
	return c
}

func (o *logsOptions) parse(c *cobra.Command) error {
	if o.q.Tail < -1 {
		return usageError(c, "--tail %d: a number of lines", o.q.Tail)
	}
	if o.q.Attempt < 0 {
		return usageError(c, "--attempt %d: attempts count from 1", o.q.Attempt)
	}
	if o.since == "" {
		return nil
	}
	if d, err := job.ParseDuration(o.since); err == nil {
		o.q.Since = time.Now().Add(-d.D())
		return nil
	}
	t, err := time.Parse(time.RFC3339, o.since)
	if err != nil {
		return usageError(c, "--since %s: neither a duration like 10m nor a time like 2006-01-02T15:04:05Z", o.since)
	}
	o.q.Since = t
	return nil
}

func runLogs(ctx context.Context, a *app, o logsOptions, args []string) error {
	svc, runs, err := a.findAll(ctx, args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if isGroup(runs, args) {
		err = showGroupLogs(ctx, a, svc, runs, o)
	} else {
		err = showRunLogs(ctx, a, svc, runs[0], o)
	}
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, context.Canceled) {
		return nil // whoever read it has had enough
	}
	return err
}

func showRunLogs(ctx context.Context, a *app, svc run.Service, r run.Run, o logsOptions) error {
	if o.q.Attempt > r.Attempt {
		return problem.New(problem.NotFound, "%s has had %s; there is no attempt %d", r.ID, counted(r.Attempt, "attempt"), o.q.Attempt)
	}
	if o.q.Attempt == 0 && r.Attempt > 1 {
		fmt.Fprintf(a.stderr, "muster: %s is in attempt %d; --attempt shows an earlier one\n", r.ID, r.Attempt)
	}
	if o.q.Raw {
		return svc.Logs(ctx, r.ID, o.q, a.takeRaw)
	}
	return showLogs(ctx, a, svc, r, o)
}

// takeRaw passes output on as it is.
func (a *app) takeRaw(c run.LogChunk) error {
	to := a.stdout
	if c.Stream == engine.Stderr {
		to = a.stderr
	}
	_, err := to.Write(c.Data)
	return err
}

func showLogs(ctx context.Context, a *app, svc run.Service, r run.Run, o logsOptions) error {
	screen := ui.Open(a.stdout, a.stderr, a.env, 0)
	out := newOutput(screen, r.Spec.Tasks())
	out.stamps = o.timestamps
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go cancelWhenGone(ctx, cancel, screen)
	err := svc.Logs(ctx, r.ID, o.q, out.take)
	out.flush()
	if cerr := screen.Close(); err == nil {
		err = cerr
	}
	return err
}

// cancelWhenGone ends what is shown to nobody any more.
func cancelWhenGone(ctx context.Context, cancel func(), screen *ui.Screen) {
	select {
	case <-screen.Gone(ui.Out):
		cancel()
	case <-ctx.Done():
	}
}
