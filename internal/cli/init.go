package cli

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

//go:embed starters
var starters embed.FS

func newInitCommand(a *app) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "init [FRAMEWORK]", Short: "Write a commented muster.yaml to start from", Args: cobra.MaximumNArgs(1),
		Long: "Init writes a job file with comments for a framework: " + strings.Join(job.Frameworks, ", ") + "\n" +
			"(default plain). It never overwrites one.",
		Example: "  muster init mxnet\n  muster init torch -f -",
		RunE: func(c *cobra.Command, args []string) error {
			framework := "plain"
			if len(args) > 0 {
				framework = args[0]
			}
			return runInit(a, framework, file)
		},
	}
	c.Flags().StringVarP(&file, "file", "f", "muster.yaml", "file to write; - for stdout")
	return c
}

func runInit(a *app, framework, file string) error {
	if !slices.Contains(job.Frameworks, framework) {
		e := problem.New(problem.Invalid, "%q is not a framework; there are %s", framework, strings.Join(job.Frameworks, ", "))
		if near := problem.Nearest(framework, job.Frameworks); near != "" {
			return e.WithHint("did you mean %s?", near)
		}
		return e
	}
	text, err := starters.ReadFile("starters/" + framework + ".yaml")
	if err != nil {
		return err
	}
	if file == "-" {
		_, err := a.stdout.Write(text)
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return problem.New(problem.Conflict, "%s is there already", file).WithHint("-f OTHER writes another file, -f - shows what it would write")
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "muster: wrote %s; edit it, then: muster plan -f %s, muster run -f %s\n", file, file, file)
	return nil
}
