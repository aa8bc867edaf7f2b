package cli

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/format/native"
	"muster.dev/muster/internal/git"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
)

func newValidateCommand(a *app) *cobra.Command {
	var sets []string
	var file string
	c := &cobra.Command{
		Use: "validate [FILE]", Short: "Check a job file and list all that is wrong with it", Args: cobra.MaximumNArgs(1),
		Long: "Validate checks a job file (default muster.yaml; - reads stdin), looks at nothing else, and\n" +
			"exits with 0 or 2. Whether this machine can run it is what muster plan says.",
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) > 0 && file != "":
				return usageError(c, "two job files: give one of them")
			case len(args) > 0:
				file = args[0]
			case file == "":
				file = "muster.yaml"
			}
			return runValidate(a, file, sets)
		},
	}
	c.Flags().StringVarP(&file, "file", "f", "", "the job file, as muster run has it")
	setFlag(c, &sets)
	return c
}

func runValidate(a *app, path string, sets []string) error {
	data, _, err := readJobFile(path)
	if err != nil {
		return err
	}
	spec, group, err := native.ParseFile(path, data, sets...)
	if err != nil {
		return err
	}
	var list problem.List
	if group == nil {
		list = checkFramework(path, "", spec)
		group = &job.Group{Jobs: map[string]*job.Spec{"": spec}}
	} else {
		for _, name := range slices.Sorted(maps.Keys(group.Jobs)) {
			list = append(list, checkFramework(path, "jobs."+name+".", group.Jobs[name])...)
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, name := range slices.Sorted(maps.Keys(group.Jobs)) {
		id := name
		if id == "" {
			id = path
		}
		fmt.Fprintln(a.stdout, clean(roles(run.Run{ID: id, Spec: *group.Jobs[name]})))
	}
	return nil
}

// checkFramework lists what is wrong with a job by its framework's rules, and by
// those of git.
func checkFramework(path, under string, s *job.Spec) problem.List {
	rendezvous.Complete(s)
	fw, err := rendezvous.ByName(s.Framework.Name)
	if err != nil {
		return problem.List{asProblem(err, path, under)}
	}
	var list problem.List
	for _, p := range fw.Check(s) {
		list = append(list, asProblem(p, path, under))
	}
	if s.Code != nil && s.Code.Git != "" {
		c := *s.Code
		resolveCode(&c, filepath.Dir(path))
		if !filepath.IsAbs(c.Git) && !strings.Contains(c.Git, ":") {
			c.Git = "/" + c.Git // a path; whether it is there is not looked at
		}
		_, err := git.Parse(c.Git)
		for _, err := range []error{err, git.CheckRef(c.Ref)} {
			if err != nil {
				list = append(list, asProblem(err, path, under))
			}
		}
	}
	return list
}

// asProblem places a problem in a file.
func asProblem(err error, path, under string) *problem.Error {
	e := &problem.Error{Text: err.Error()}
	var known *problem.Error
	if errors.As(err, &known) {
		c := *known
		e = &c
	}
	e.Kind, e.Where, e.Field = problem.Invalid, path, under+e.Field
	return e
}

func newSchemaCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of job files, for editors", Args: cobra.NoArgs,
		Long:    "Schema prints the JSON Schema of job files. Editors with a YAML language server use it after\n# yaml-language-server: $schema=muster.schema.json at the top of a job file.",
		Example: "  muster schema > muster.schema.json",
		RunE:    func(*cobra.Command, []string) error { return a.print("json", native.Schema()) },
	}
}
