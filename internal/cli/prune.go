package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

type pruneOptions struct {
	olderThan string
	keep      int
	dry       bool
	format    string
}

func newPruneCommand(a *app) *cobra.Command {
	var o pruneOptions
	c := &cobra.Command{
		Use: "prune", Short: "Delete old runs that have ended, and what no run needs any more", Args: cobra.NoArgs,
		Long: "Prune deletes the runs that ended long enough ago, but for the newest ones: record, logs,\n" +
			"outputs, checkpoints. It also deletes runs whose cleanup.ttl is over, frozen code that no run\n" +
			"has any more, and what submissions that were killed have left. It prints the ids.",
		RunE: func(c *cobra.Command, _ []string) error { return runPrune(c.Context(), a, c, o) },
	}
	f := c.Flags()
	f.StringVar(&o.olderThan, "older-than", "30d", "only runs that ended so long ago; 0s for all")
	f.IntVar(&o.keep, "keep", recent, "how many of the newest ended runs stay in any case")
	f.BoolVar(&o.dry, "dry-run", false, "only say what would be deleted")
	formatFlag(c, &o.format, "json|yaml|name")
	return c
}

func runPrune(ctx context.Context, a *app, c *cobra.Command, o pruneOptions) error {
	age, err := job.ParseDuration(o.olderThan)
	if err != nil {
		return usageError(c, "--older-than: %v", err)
	}
	if o.keep < 0 {
		return usageError(c, "--keep %d: a number of runs", o.keep)
	}
	svc, err := a.open()
	if err != nil {
		return err
	}
	p, ok := svc.(run.Pruner)
	if !ok {
		return problem.New(problem.Refused, "nothing can be deleted here")
	}
	done, err := p.Prune(ctx, run.Pruning{Ended: true, OlderThan: age.D(), Keep: o.keep, Dry: o.dry})
	if perr := a.printPruned(done, o); err == nil {
		err = perr
	}
	return err
}

func (a *app) printPruned(done run.Pruned, o pruneOptions) error {
	if o.format != "" {
		return a.print(o.format, done, done.Runs...)
	}
	for _, id := range done.Runs {
		fmt.Fprintln(a.stdout, id)
	}
	verb, what := "deleted", counted(len(done.Runs), "run")
	if o.dry {
		verb = "would delete"
	}
	if n := len(done.Folders); n > 0 {
		what += fmt.Sprintf(" and %s without one", counted(n, "folder"))
	}
	fmt.Fprintf(a.stderr, "muster: %s %s, %s\n", verb, what, ui.Bytes(done.Bytes))
	return nil
}

// sweep deletes runs whose ttl is over. A look at runs does not fail because
// of that.
func sweep(ctx context.Context, svc run.Service) {
	if p, ok := svc.(run.Pruner); ok {
		_, _ = p.Prune(ctx, run.Pruning{})
	}
}
