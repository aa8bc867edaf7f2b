package cli

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

func newAttachCommand(a *app) *cobra.Command {
	var show []string
	c := &cobra.Command{
		Use: "attach [RUN]", Short: "Watch a run that goes on elsewhere; Ctrl-C only ends the watching", Args: cobra.MaximumNArgs(1),
		Long: "Attach shows a run, or all runs of a group, as muster run does and exits with its code.\n" +
			"Ctrl-C ends the watching, not the run.",
		RunE: func(c *cobra.Command, args []string) error { return attach(c.Context(), a, args, show) },
	}
	showFlag(c, &show)
	return c
}

func attach(ctx context.Context, a *app, args, show []string) error {
	signals := catchSignals()
	svc, runs, err := a.findAll(ctx, args)
	if err != nil {
		return err
	}
	if isGroup(runs, args) {
		if len(show) > 0 {
			return problem.New(problem.Invalid, "--show is for one job, and %s is a group", args[0]).WithHint("muster ps --group %s lists its runs", args[0])
		}
		s := newGroupSession(a, svc, runs)
		s.owner, s.tail = false, attachTail
		return s.follow(ctx, signals)
	}
	if err := checkShown(&runs[0].Spec, show); err != nil {
		return err
	}
	return newSession(a, svc, runs[0], false).follow(ctx, signals, run.LogQuery{Tasks: show, Tail: attachTail, Follow: true})
}

// attachTail is how many lines of each task attach shows of what was before.
const attachTail = 20

func newWaitCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "wait [RUN]", Short: "Wait for a run, or all runs of a group, and exit with its code", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			svc, runs, err := a.findAll(c.Context(), args)
			if err != nil {
				return err
			}
			if isGroup(runs, args) {
				return waitGroup(c.Context(), a, svc, runs)
			}
			r := runs[0]
			if err := svc.Watch(c.Context(), r.ID, func(now run.Run) error { r = now; return nil }); err != nil {
				return err
			}
			fmt.Fprintf(a.stderr, "muster: %s\n", plain(r))
			return exitOf(r)
		},
	}
}

func newStopCommand(a *app) *cobra.Command {
	var force, noWait bool
	c := &cobra.Command{
		Use: "stop RUN...", Short: "Stop runs: ask the tasks to end, wait for the grace period, then kill", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var asked []func() error
			err := a.each(c.Context(), args, func(svc run.Service, r run.Run) error {
				stopping, err := askToStop(c.Context(), a, svc, r, force)
				if stopping && !noWait {
					asked = append(asked, func() error { return awaitStop(c.Context(), a, svc, r, force) })
				}
				return err
			})
			for _, await := range asked { // all were asked first: their grace periods pass together
				err = cmp.Or(await(), err)
			}
			return err
		},
	}
	c.Flags().BoolVar(&force, "force", false, "kill at once, without grace")
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until it has ended")
	return c
}

// askToStop says whether there is something to stop.
func askToStop(ctx context.Context, a *app, svc run.Service, r run.Run, force bool) (bool, error) {
	if r.Done() {
		fmt.Fprintf(a.stderr, "muster: %s has ended already: %s\n", r.ID, status(r))
		return false, nil
	}
	_, err := svc.Update(ctx, r.ID, run.Intent{Want: run.WantStop, By: "muster stop", Signal: "TERM", Force: force})
	if problem.KindOf(err) == problem.Conflict {
		err = nil // it is about to end by itself
	}
	return err == nil, err
}

// awaitStop waits for a run that was asked to stop.
func awaitStop(ctx context.Context, a *app, svc run.Service, r run.Run, force bool) error {
	var taking sync.WaitGroup
	taking.Add(1)
	late := time.AfterFunc(r.Spec.Stop.GraceOr()+answers, func() {
		defer taking.Done()
		fmt.Fprintf(a.stderr, "muster: %s has not ended yet: its owner does not answer. Is it stopped, as by Ctrl-Z? kill -CONT it, or: muster stop --force %s\n", r.ID, r.ID)
		if t, ok := svc.(run.Taker); ok && force {
			_ = t.Take(ctx, r.ID) // the one that does not answer may have woken up
		}
	})
	err := svc.Watch(ctx, r.ID, func(now run.Run) error { r = now; return nil })
	if late.Stop() {
		taking.Done()
	}
	taking.Wait() // whoever has taken a run over puts everything away
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "muster: %s %s\n", r.ID, status(r))
	return nil
}

// answers is how long an owner may take, beyond the grace period, to end a run.
const answers = 5 * time.Second

func newRmCommand(a *app) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "rm RUN...", Short: "Delete runs that have ended: record, logs, outputs, checkpoints", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.each(c.Context(), args, func(svc run.Service, r run.Run) error {
				if force && !r.Done() {
					if _, err := askToStop(c.Context(), a, svc, r, false); err != nil {
						return err
					}
					if err := awaitStop(c.Context(), a, svc, r, false); err != nil {
						return err
					}
				}
				if _, err := svc.Update(c.Context(), r.ID, run.Intent{Want: run.WantRemove, By: "muster rm"}); err != nil {
					return err
				}
				fmt.Fprintln(a.stdout, r.ID)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "stop it first")
	return c
}
