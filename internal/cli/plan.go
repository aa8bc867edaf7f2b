package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/format/native"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

func newPlanCommand(a *app) *cobra.Command {
	var o runOptions
	var format string
	c := &cobra.Command{
		Use: "plan [flags] [-f FILE | -- COMMAND...]", Short: "Show what run would start: every task, its command, environment and files",
		Long: "Plan shows every task as muster run would start it, and starts nothing. What is only known\n" +
			"later, such as ports, is in angle brackets. -o yaml prints the job file in its long form.",
		Example: "  muster plan -n 2 -s 1 -- python train.py\n  muster plan -f muster.yaml --set workers=8 -o yaml",
		RunE: func(c *cobra.Command, args []string) error {
			o.changed = c.Flags().Changed
			return runPlan(c.Context(), a, c, o, args, format)
		},
	}
	jobFlags(c, &o)
	formatFlag(c, &format, "json|yaml")
	return c
}

func runPlan(ctx context.Context, a *app, c *cobra.Command, o runOptions, args []string, format string) error {
	s, err := submission(a, c, o, args)
	list := []run.Submission{s}
	var group *groupFile
	var order []string
	if errors.As(err, &group) {
		list, order, err = groupList(o, group)
	}
	if err != nil {
		return err
	}
	svc, err := a.open()
	if err != nil {
		return err
	}
	p, ok := svc.(run.Planner)
	if !ok {
		return problem.New(problem.Refused, "nothing can be planned here")
	}
	plans := make([]run.Plan, len(list))
	for i, s := range list {
		if plans[i], err = p.Plan(ctx, s); err != nil {
			return err
		}
	}
	if format != "" {
		return a.printLong(format, plans, group, order)
	}
	drawn := make([]string, len(plans))
	for i, plan := range plans {
		var needs map[string]string
		if group != nil {
			needs = group.group.Needs[order[i]]
			addGroupDir(plan.Tasks)
		}
		drawn[i] = clean(drawPlan(plan, needs))
	}
	_, err = fmt.Fprint(a.stdout, strings.Join(drawn, "\n"))
	return err
}

// addGroupDir adds the variable that only a job of a group has.
func addGroupDir(tasks []run.PlannedTask) {
	for i := range tasks {
		tasks[i].Env = append(tasks[i].Env, "MUSTER_GROUP_DIR=<a folder of the group>")
		slices.Sort(tasks[i].Env)
	}
}

// groupList are the jobs of a group, each after those it needs.
func groupList(o runOptions, f *groupFile) (list []run.Submission, order []string, err error) {
	g, err := groupSubmission(o, f)
	if err != nil {
		return nil, nil, err
	}
	if order, err = g.Group.Order(); err != nil {
		return nil, nil, problem.New(problem.Invalid, "%v", err)
	}
	for _, name := range order {
		s := g.Jobs[name]
		s.Spec.Name = g.Group.Name + "-" + name
		list = append(list, s)
	}
	return list, order, nil
}

// printLong prints a job file in its long form. order has the names of plans
// that are the jobs of a group.
func (a *app) printLong(format string, plans []run.Plan, group *groupFile, order []string) error {
	if group == nil {
		long, err := native.Long(&plans[0].Run.Spec)
		if err != nil {
			return err
		}
		return a.print(format, long)
	}
	g := *group.group
	g.Jobs = map[string]*job.Spec{}
	for i, name := range order {
		spec := plans[i].Run.Spec
		spec.Name = ""
		g.Jobs[name] = &spec
	}
	long, err := native.LongGroup(&g)
	if err != nil {
		return err
	}
	return a.print(format, long)
}

// drawPlan shows the job, then each task.
func drawPlan(p run.Plan, needs map[string]string) string {
	var b strings.Builder
	fmt.Fprintln(&b, roles(p.Run))
	fact := func(label string, lines ...string) {
		for i, line := range lines {
			if i > 0 {
				label = ""
			}
			if line != "" {
				fmt.Fprintf(&b, "  %-9s %s\n", label, line)
			}
		}
	}
	s := &p.Run.Spec
	fact("needs", needWords(needs)...)
	fact("code", codeWords(p.Run))
	fact("inputs", inputWords(s)...)
	fact("outputs", outputWords(s)...)
	fact("secrets", secretWords(s)...)
	fact("limits", limitWords(s.Limits))
	fact("restart", restartWords(s.Restart))
	if len(p.Adds) > 0 {
		fact("besides", "every task finds "+ui.Names(p.Adds, len(p.Adds))+", by which exceptions are noticed")
	}
	fact("note", p.Notes...)
	for _, t := range p.Tasks {
		fmt.Fprintf(&b, "\n%s   %s\n", t.Task, placeWords(p.Run, t))
		fact("setup", strings.Split(strings.TrimSpace(t.Setup), "\n")...)
		fact("command", strings.Split(strings.TrimSpace(quoted(t.Command)), "\n")...)
		fact("teardown", strings.Split(strings.TrimSpace(t.Teardown), "\n")...)
		fact("in", t.Dir)
		fact("env", t.Env...)
	}
	return b.String()
}

func codeWords(r run.Run) string {
	switch c := r.Spec.Code; {
	case c != nil && c.Git != "":
		return gitWords(c) + ", fetched and frozen at submit; the tasks work in a copy"
	case c != nil:
		return c.Path + ", frozen at submit; the tasks work in a copy"
	}
	return "in place: the tasks work in " + r.Origin.Dir
}

// needWords are the jobs of its group that a job waits for.
func needWords(needs map[string]string) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		if needs[name] == "done" {
			name += ", whatever becomes of it"
		}
		lines = append(lines, name)
	}
	return lines
}

func inputWords(s *job.Spec) (lines []string) {
	for _, in := range s.Inputs {
		line := in.From
		if in.Path != "" {
			line += " at " + in.Path
		}
		if in.Env != "" {
			line += " as $" + in.Env
		}
		lines = append(lines, line)
	}
	return lines
}

func outputWords(s *job.Spec) []string {
	lines := []string{"all in $MUSTER_OUTPUT_DIR"}
	if s.Checkpoint != "" {
		lines = append(lines, "checkpoints in "+s.Checkpoint+", which is yours to delete")
	}
	for _, o := range s.Outputs {
		line := o.Path
		if o.Env != "" {
			line += " as $" + o.Env
		}
		if o.When != "" && o.When != "always" {
			line += " on " + o.When
		}
		if o.To != "" {
			line += ", copied to " + o.To
		}
		lines = append(lines, line)
	}
	return lines
}

func secretWords(s *job.Spec) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Secrets)) {
		secret := s.Secrets[name]
		from := "$" + secret.Env
		if secret.File != "" {
			from = secret.File
		}
		if secret.As != "" {
			from += " as a file " + secret.As
		}
		lines = append(lines, name+" from "+from)
	}
	return lines
}

func limitWords(l job.Limits) string {
	var parts []string
	for _, limit := range []struct {
		name string
		d    job.Duration
	}{{"run", l.Run}, {"queue", l.Queue}, {"rendezvous", l.Rendezvous}, {"stall", l.Stall}} {
		if limit.d > 0 {
			parts = append(parts, limit.name+" "+limit.d.String())
		}
	}
	return strings.Join(parts, ", ")
}

func restartWords(r job.Restart) string {
	if r.Limit == 0 {
		return ""
	}
	return "up to " + counted(r.Limit, "time")
}

// placeWords is what a task is given.
func placeWords(r run.Run, t run.PlannedTask) string {
	parts := []string{r.Engine}
	if t.Image != "" {
		parts = append(parts, "in "+t.Image)
	}
	task, _ := job.ParseTask(t.Task)
	res := job.Resources{}
	if role := r.Spec.Roles[task.Role]; role != nil {
		res = role.Resources
	}
	if t.Ports > 0 {
		parts = append(parts, counted(t.Ports, "port"))
	}
	if len(t.Listen) > 0 {
		parts = append(parts, "listens on "+listenWords(t.Listen))
	}
	if t.GPUs > 0 {
		parts = append(parts, counted(t.GPUs, "GPU"))
	}
	if res.CPUs > 0 {
		parts = append(parts, fmt.Sprintf("cpus %g", res.CPUs))
	}
	if res.Memory > 0 {
		parts = append(parts, "memory "+res.Memory.String())
	}
	return strings.Join(parts, ", ")
}

// listenWords lists ports of a job, some of which are only known later.
func listenWords(ports []int) string {
	words := make([]string, len(ports))
	for i, p := range ports {
		if words[i] = strconv.Itoa(p); p == 0 {
			words[i] = "a free port"
		}
	}
	return strings.Join(words, ", ")
}

// quoted is a command as a shell would take it.
func quoted(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$&|;<>()*?[]#~`!{}") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words[i] = w
	}
	return strings.Join(words, " ")
}
