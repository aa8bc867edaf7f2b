// Package cli is the command line. It turns words into calls of a run.Service,
// and what comes back into text; only here is anything printed, and only here
// do errors become exit codes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// Exit codes of the commands that do not stand for a run.
const (
	exitError    = 1
	exitUsage    = 2
	exitNotFound = 3
)

// An app is what every command works with.
type app struct {
	stdout, stderr *os.File
	env            func(string) string
	open           func() (run.Service, error)
}

// Main runs one command and returns its exit code.
func Main(args []string) int {
	if code, ours := internalCommand(args); ours {
		return code
	}
	// A reader of our output that goes away must not end the run. Caught, not
	// ignored: tasks would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a := &app{stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv}
	a.open = a.openPlane
	root := newRoot(a)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(context.Background())
	return a.exitCode(cmd, unknownCommand(root, err))
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "muster",
		Short: "Run distributed training jobs",
		Long: "Muster runs a distributed training job on what you have. When one process dies, it says\n" +
			"which and why, and leaves nothing of the others behind.",
		SilenceErrors: true, SilenceUsage: true, DisableSuggestions: true,
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageError(c, "%s", flagWords(c, err)) })
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run:"}, &cobra.Group{ID: "look", Title: "Look:"},
		&cobra.Group{ID: "write", Title: "Write job files:"}, &cobra.Group{ID: "other", Title: "Other:"})
	root.SetHelpCommand(newHelpCommand(root))
	for group, list := range map[string][]*cobra.Command{
		"run":   {newRunCommand(a), newAttachCommand(a), newWaitCommand(a), newStopCommand(a), newSuspendCommand(a), newResumeCommand(a), newResizeCommand(a), newRerunCommand(a), newRmCommand(a)},
		"look":  {newPsCommand(a), newGetCommand(a), newLogsCommand(a), newWhyCommand(a), newFilesCommand(a), newCpCommand(a)},
		"write": {newInitCommand(a), newValidateCommand(a), newPlanCommand(a), newSchemaCommand(a)},
		"other": {newPruneCommand(a), newCompletionCommand(a), newDoctorCommand(a), newManCommand(a), newVersionCommand(a)},
	} {
		for _, c := range list {
			c.GroupID, c.Args = group, asUsage(c.Args)
			a.completes(c)
			root.AddCommand(c)
		}
	}
	return root
}

// An exitStatus ends the command with a code and prints nothing: what there was
// to say has been said.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usage marks an error as a wrong use of the command line.
type usage struct{ error }

func usageError(c *cobra.Command, format string, args ...any) error {
	return usage{fmt.Errorf("%s\nsee: %s --help", fmt.Sprintf(format, args...), c.CommandPath())}
}

// asUsage makes a wrong number of arguments a wrong use of the command line.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		return nil
	}
	return func(c *cobra.Command, args []string) error {
		if check(c, args) == nil {
			return nil
		}
		return usageError(c, "%s: %s given", c.UseLine(), counted(len(args), "argument"))
	}
}

// forRun says whether a command's exit code stands for a run's, so that ours
// must keep out of the way of the tasks'.
func forRun(c *cobra.Command) bool {
	return c != nil && slices.Contains([]string{"run", "rerun", "wait", "attach"}, c.Name())
}

// exitCode prints an error and turns it into an exit code.
func (a *app) exitCode(c *cobra.Command, err error) int {
	var st exitStatus
	if err == nil {
		return 0
	}
	if errors.As(err, &st) {
		return int(st)
	}
	a.printError(err)
	var u usage
	kind := problem.KindOf(err)
	switch {
	case forRun(c):
		return run.ExitRefused
	case errors.As(err, &u), kind == problem.Invalid:
		return exitUsage
	case kind == problem.NotFound:
		return exitNotFound
	}
	return exitError
}

func (a *app) printError(err error) {
	style := ui.Detect(a.stderr, a.env)
	var list problem.List
	if errors.As(err, &list) {
		printProblems(a.stderr, list)
		return
	}
	fmt.Fprintf(a.stderr, "%s %s\n", style.Mark(ui.Failed), clean(err.Error()))
	if h := problem.HintOf(err); h != "" {
		fmt.Fprintf(a.stderr, "  %s\n", style.Dim(clean(h)))
	}
}

// printProblems lists what is wrong with a job, in columns.
func printProblems(w io.Writer, list problem.List) {
	width := 0
	for _, p := range list {
		width = max(width, ui.Width(p.Where))
	}
	for _, p := range list {
		line := p.Text
		if p.Field != "" {
			line = p.Field + "   " + line
		}
		if p.Where != "" {
			line = ui.Pad(p.Where, width) + "  " + line
		}
		if p.Cause != nil {
			line += ": " + p.Cause.Error()
		}
		if p.Hint != "" {
			line += "; " + p.Hint
		}
		fmt.Fprintln(w, clean(line))
	}
	fmt.Fprintln(w, counted(len(list), "problem"))
}

// counted is a number of things: 1 problem, 2 problems.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// clean makes text that holds somebody's input harmless to a terminal.
func clean(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = string(ui.Clean([]byte(l), false))
	}
	return strings.Join(lines, "\n")
}

// cleanName does so with a name, which is one line whatever is in it.
func cleanName(name string) string { return string(ui.Clean([]byte(name), false)) }
