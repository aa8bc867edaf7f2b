package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

type rerunOptions struct {
	resume bool
	code   string
	env    []string
	show   []string
	detach bool
}

func newRerunCommand(a *app) *cobra.Command {
	var o rerunOptions
	c := &cobra.Command{
		Use: "rerun [RUN]", Short: "Run the job of an earlier run again, as a new run", Args: cobra.MaximumNArgs(1),
		Long: "Rerun submits the job of a run once more, from the folder it was submitted from, with your\n" +
			"environment of now. A job whose code was frozen gets the same bytes again, unless --code\n" +
			"freezes others; one that runs in place sees what you have changed.",
		Example: "  muster rerun train-p7xq\n  muster rerun train --resume        # goes on from its checkpoints\n  muster rerun train --code .        # with the fix",
		RunE:    func(c *cobra.Command, args []string) error { return runRerun(c.Context(), a, o, args) },
	}
	f := c.Flags()
	f.BoolVar(&o.resume, "resume", false, "begin with a copy of its checkpoints; it must have ended")
	f.StringVar(&o.code, "code", "", "freeze this folder, or git+URL@REF, instead of using the same code again")
	f.StringArrayVarP(&o.env, "env", "e", nil, "set a variable, K=V, or pass one on, K")
	showFlag(c, &o.show)
	f.BoolVarP(&o.detach, "detach", "d", false, "return when it runs and print only its id")
	return c
}

func runRerun(ctx context.Context, a *app, o rerunOptions, args []string) error {
	svc, runs, err := a.findAll(ctx, args)
	if err != nil {
		return err
	}
	r := runs[0]
	if isGroup(runs, args) {
		return problem.New(problem.Refused, "%s is a group, which is not run again as a whole", r.Group.ID).WithHint("muster run -f %s submits it anew", r.Origin.File)
	}
	s, err := repetition(r, o)
	if err != nil {
		return err
	}
	if o.detach {
		return runDetached(ctx, a, svc, s)
	}
	s.Attached = true
	return runAttached(ctx, a, svc, s, o.show)
}

// repetition is a submission of the same job again. Values that were never
// stored, of variables passed on and of secrets, are looked up anew.
func repetition(r run.Run, o rerunOptions) (run.Submission, error) {
	if r.Group != nil {
		return run.Submission{}, problem.New(problem.Refused, "%s is a job of the group %s, which it needs", r.ID, r.Group.ID).WithHint("muster run -f %s", r.Origin.File)
	}
	from := r.Origin
	s := run.Submission{
		Spec: r.Spec, Env: os.Environ(),
		Origin: run.Origin{Dir: from.Dir, File: from.File, Code: from.Code, CodeSize: from.CodeSize, Commit: from.Commit, Inference: from.Inference, Privileged: from.Privileged},
	}
	s.Spec.Suspend = false // who runs it again wants it to run
	if o.resume {
		s.Resume = r.ID
	}
	if o.code != "" {
		cwd, err := os.Getwd()
		if err != nil {
			return s, err
		}
		s.Spec.Code = codeFlag(o.code, cwd)
		s.Origin.Code, s.Origin.CodeSize, s.Origin.Commit = "", 0, ""
	}
	if err := lookUp(&s, nil); err != nil {
		return s, err
	}
	return s, setFlags(&s, o.env)
}
