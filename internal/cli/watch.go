package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// watchFlag adds -w, for people only: programs have -o json and muster wait.
func watchFlag(c *cobra.Command, watch *bool) {
	c.Flags().BoolVarP(watch, "watch", "w", false, "go on showing changes until Ctrl-C")
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if err := before(c, args); err != nil {
			return err
		}
		if f := c.Flag("output").Value.String(); *watch && f != "" && f != "wide" {
			return usageError(c, "-w with -o %s: there is only -o wide", f)
		}
		return nil
	}
}

// watchInterval is how often -w looks.
const watchInterval = 500 * time.Millisecond

// watch shows runs again and again: redrawn in place on a terminal, elsewhere
// a line for each change. It ends with look's second result, or a signal.
func (a *app) watch(ctx context.Context, look func() ([]run.Run, bool, error), draw func([]run.Run) string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	screen := ui.Open(a.stdout, a.stderr, a.env, 0)
	said := map[string]string{}
	ticks := time.NewTicker(watchInterval)
	defer ticks.Stop()
	for {
		runs, done, err := look()
		if err != nil {
			return errors.Join(err, screen.Close())
		}
		text := draw(runs)
		if screen.Live() && !done {
			screen.Status(strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
		} else if !screen.Live() {
			printChanges(screen, said, runs)
		}
		if !done {
			select {
			case <-ticks.C:
				continue
			case <-screen.Gone(ui.Out):
			case <-ctx.Done():
			}
		}
		live := screen.Live()
		err = screen.Close()
		if live {
			fmt.Fprint(a.stdout, text) // the last state stays
		}
		return err
	}
}

// printChanges prints a line for each run that is not as it was said to be.
func printChanges(screen *ui.Screen, said map[string]string, runs []run.Run) {
	for _, r := range runs {
		if line := plain(r); said[r.ID] != line {
			said[r.ID] = line
			_ = screen.Print(ui.Out, "", []byte(clean(line)))
		}
	}
}
