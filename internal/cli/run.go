package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"muster.dev/muster/internal/format/native"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
)

type runOptions struct {
	file      string
	workers   int
	servers   int
	framework string
	name      string
	code      string
	env       []string
	restarts  int
	gpus      int
	detach    bool
	isolation string
	show      []string
	labels    []string
	sets      []string
	container containerOptions

	changed func(flag string) bool
}

func newRunCommand(a *app) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [flags] [-f FILE | -- COMMAND...]",
		Short: "Run a job and wait for it",
		Long: "Run runs a job: from a command line, where every role runs the same command as MXNet\n" +
			"expects, or from a job file. It exits with the deciding task's own code; 124 ended by a\n" +
			"limit, 125 refused, 126 not executable, 127 not found, 128+n by a signal, 130 after Ctrl-C,\n" +
			"143 after muster stop.",
		Example: "  muster run -n 2 -s 1 -- python train.py --kv-store dist_sync\n" +
			"  muster run -n 4 -- python ddp.py\n" +
			"  muster run -f muster.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			o.changed = c.Flags().Changed
			return runRun(c.Context(), a, c, o, args)
		},
	}
	jobFlags(c, &o)
	c.Flags().BoolVarP(&o.detach, "detach", "d", false, "return when it runs and print only its id")
	showFlag(c, &o.show)
	return c
}

// jobFlags adds the flags that say what the job is.
func jobFlags(c *cobra.Command, o *runOptions) {
	f := c.Flags()
	f.SetInterspersed(false)
	f.StringVarP(&o.file, "file", "f", "", "job file (default muster.yaml when there is no command; - reads stdin)")
	f.IntVarP(&o.workers, "workers", "n", 1, "number of workers")
	f.IntVarP(&o.servers, "servers", "s", 0, "number of parameter servers; means MXNet")
	f.StringVar(&o.framework, "framework", "", strings.Join(job.Frameworks, ", ")+" (default from -n and -s, always printed)")
	f.StringVar(&o.name, "name", "", "name of the job (default the script's)")
	f.StringVar(&o.code, "code", "", "freeze this folder, or git+URL@REF, and run in a copy of it (default in place)")
	f.StringArrayVarP(&o.env, "env", "e", nil, "set a variable, K=V, or pass one on, K")
	setFlag(c, &o.sets)
	f.StringArrayVarP(&o.labels, "label", "l", nil, "label it, K=V, for muster ps -l")
	f.IntVar(&o.restarts, "restarts", 0, "how often a failed gang may be started again")
	f.IntVar(&o.gpus, "gpus", 0, "GPUs for each worker; 0 to try a job on the CPU")
	f.StringVar(&o.isolation, "isolation", "", "auto or none")
	o.container.addTo(f)
}

// setFlag adds --set.
func setFlag(c *cobra.Command, sets *[]string) {
	c.Flags().StringArrayVar(sets, "set", nil, "set any field of the job file, PATH=VALUE: limits.run=4h")
}

func runRun(ctx context.Context, a *app, c *cobra.Command, o runOptions, args []string) error {
	s, err := submission(a, c, o, args)
	var group *groupFile
	if errors.As(err, &group) {
		return runGroup(ctx, a, o, group)
	}
	if err != nil {
		return err
	}
	svc, err := a.open()
	if err != nil {
		return err
	}
	if o.detach {
		return runDetached(ctx, a, svc, s)
	}
	s.Attached = true
	return runAttached(ctx, a, svc, s, o.show)
}

// submission makes a submission of what the command line says.
func submission(a *app, c *cobra.Command, o runOptions, args []string) (run.Submission, error) {
	cwd, err := workingDir()
	if err != nil {
		return run.Submission{}, err
	}
	s := run.Submission{Env: os.Environ(), Origin: run.Origin{Dir: cwd}}
	switch {
	case o.file != "" && len(args) > 0:
		return s, usageError(c, "a job file and a command: give one of them")
	case o.file == "" && len(args) == 0 && !exists("muster.yaml"):
		return s, usageError(c, "nothing to run: give a command after --, or a job file with -f (there is no muster.yaml here)")
	case len(args) > 0:
		s.Spec, s.Origin.Inference, err = bareJob(o, args)
	default:
		err = fileJob(&s, o)
	}
	if err != nil {
		return s, err
	}
	return s, override(&s, o)
}

// workingDir is the caller's folder.
func workingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", problem.Wrap(problem.Refused, err, "find the folder to run in").WithHint("it seems to have been removed: cd to one that is there")
	}
	return dir, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// bareJob is the job of a bare command line: every role runs the same command.
func bareJob(o runOptions, command []string) (job.Spec, string, error) {
	o = sizesFromSets(o)
	if o.workers < 1 || o.servers < 0 {
		return job.Spec{}, "", problem.New(problem.Invalid, "-n %d -s %d: a job needs at least one worker, and no fewer than 0 servers", o.workers, o.servers)
	}
	framework, why := o.framework, ""
	if framework == "" {
		framework, why = rendezvous.Infer(o.servers, o.workers)
	}
	s := job.Spec{
		Name:      nameFrom(command),
		Framework: job.Framework{Name: framework, Inferred: o.framework == ""},
		Roles:     map[string]*job.Role{"worker": {Replicas: o.workers, Command: command}},
	}
	if o.servers > 0 {
		s.Roles["server"] = &job.Role{Replicas: o.servers, Command: command}
	}
	if len(o.sets) > 0 {
		why, err := setBare(&s, o.sets, why)
		return s, why, err
	}
	return s, why, nil
}

// sizesFromSets takes --set of a command line's sizes as -n and -s: the
// framework follows from them, however they were given.
func sizesFromSets(o runOptions) runOptions {
	sets := o.sets
	o.sets = nil
	for _, set := range sets {
		path, value, _ := strings.Cut(set, "=")
		n, err := strconv.Atoi(value)
		switch {
		case (path == "workers" || path == "roles.worker.replicas") && err == nil:
			o.workers = n
		case (path == "servers" || path == "roles.server.replicas") && err == nil:
			o.servers = n
		default:
			o.sets = append(o.sets, set)
		}
	}
	return o
}

// setBare applies --set to the job of a command line, as if a file had it.
func setBare(s *job.Spec, sets []string, why string) (string, error) {
	long, err := native.Long(s)
	if err != nil {
		return why, err
	}
	data, err := json.Marshal(long)
	if err != nil {
		return why, err
	}
	set, err := native.Parse("the command line", data, sets...)
	if err != nil {
		return why, err
	}
	if set.Framework.Name == s.Framework.Name {
		set.Framework.Inferred = s.Framework.Inferred
	} else {
		why = ""
	}
	*s = *set
	return why, nil
}

var notLabel = regexp.MustCompile(`[^a-z0-9]+`)

// nameFrom makes a job's name of its command: the script, else the program.
func nameFrom(command []string) string {
	pick := command[0]
	for _, word := range command[1:] {
		if strings.HasPrefix(word, "-") {
			continue
		}
		if ext := filepath.Ext(word); ext == ".py" || ext == ".sh" || ext == ".R" {
			pick = word
		}
		break
	}
	name := strings.ToLower(strings.TrimSuffix(filepath.Base(pick), filepath.Ext(pick)))
	name = strings.Trim(notLabel.ReplaceAllString(name, "-"), "-")
	if len(name) > 40 {
		name = strings.Trim(name[:40], "-")
	}
	if name == "" {
		return "job"
	}
	return name
}

// fileJob reads a job file. Its relative paths are relative to it.
func fileJob(s *run.Submission, o runOptions) error {
	path := o.file
	if path == "" {
		path = "muster.yaml"
	}
	data, base, err := readJobFile(path)
	if err != nil {
		return err
	}
	spec, group, err := native.ParseFile(path, data, o.sets...)
	if err != nil {
		return err
	}
	locate := func(inGroup string) locator {
		return func(field ...string) (string, string) { return native.Locate(path, data, o.sets, inGroup, field...) }
	}
	if group != nil {
		return &groupFile{group, path, base, locate}
	}
	return submitFrom(s, spec, path, base, locate(""))
}

// submitFrom makes a submission of a job that a file has.
func submitFrom(s *run.Submission, spec *job.Spec, path, base string, at locator) error {
	s.Spec, s.Origin.File = *spec, path
	if s.Spec.Name == "" {
		s.Spec.Name = nameFrom([]string{base})
	}
	if err := resolvePaths(&s.Spec, base); err != nil {
		return err
	}
	return lookUp(s, at)
}

const maxJobFile = 1 << 20

func readJobFile(path string) (data []byte, base string, err error) {
	f := os.Stdin
	base, err = os.Getwd()
	if err != nil {
		return nil, "", err
	}
	if path != "-" {
		if f, err = os.Open(path); err != nil {
			return nil, "", problem.Wrap(problem.Invalid, err, "read the job file")
		}
		defer f.Close()
		if base, err = filepath.Abs(filepath.Dir(path)); err != nil {
			return nil, "", err
		}
	}
	data, err = readAtMost(f, maxJobFile)
	if err != nil {
		return nil, "", problem.Wrap(problem.Invalid, err, "read the job file %s", path)
	}
	return data, base, nil
}

// override applies the flags that change a job however it was given.
func override(s *run.Submission, o runOptions) error {
	if o.name != "" {
		s.Spec.Name = o.name
	}
	if o.code != "" {
		s.Spec.Code = codeFlag(o.code, s.Origin.Dir)
	}
	if o.isolation != "" {
		s.Spec.Isolation = o.isolation
	}
	if err := setLabels(s, o.labels); err != nil {
		return err
	}
	if o.changed("restarts") {
		s.Spec.Restart.Limit = o.restarts
	}
	if s.Origin.File != "" {
		if err := overrideFile(s, o); err != nil {
			return err
		}
	}
	if o.changed("gpus") {
		if err := overrideGPUs(s, o.gpus); err != nil {
			return err
		}
	}
	if err := o.container.apply(s); err != nil {
		return err
	}
	rendezvous.Complete(&s.Spec) // the variables are for implied roles too
	if err := setFlags(s, o.env); err != nil {
		return err
	}
	return faults(rendezvous.Faults(&s.Spec))
}

// overrideFile applies sizes and framework to a job from a file.
func overrideFile(s *run.Submission, o runOptions) error {
	if o.framework != "" {
		s.Spec.Framework = job.Framework{Name: o.framework}
	}
	for flag, role := range map[string]string{"workers": "worker", "servers": "server"} {
		if !o.changed(flag) {
			continue
		}
		r := s.Spec.Roles[role]
		if r == nil && flag == "servers" {
			r = s.Spec.Roles[rendezvous.FactsOf(s.Spec.Framework.Name).Servers]
		}
		if r == nil {
			return problem.New(problem.Invalid, "--%s: the job file has no role %q", flag, role)
		}
		r.Replicas = map[string]int{"workers": o.workers, "servers": o.servers}[flag]
	}
	return nil
}

// overrideGPUs sets how many GPUs each task has that uses any: those that the
// job file gives some, else the workers.
func overrideGPUs(s *run.Submission, n int) error {
	found := false
	for _, r := range s.Spec.Roles {
		if r.Resources.GPUs > 0 {
			r.Resources.GPUs, found = n, true
		}
	}
	if w := s.Spec.Roles["worker"]; !found && w != nil {
		w.Resources.GPUs, found = n, true
	}
	if !found && n > 0 {
		return problem.New(problem.Invalid, "--gpus %d: the job has no role that uses GPUs, and no workers", n)
	}
	return nil
}

func faults(list []job.Fault) error {
	var l problem.List
	for _, f := range list {
		e := &problem.Error{Kind: problem.Invalid, Field: f.Field(), Text: f.Text}
		if near := problem.Nearest(f.Word, f.Known); near != "" && len(f.Word) < 64 {
			e.Hint = "did you mean " + near + "?"
		}
		l = append(l, e)
	}
	return l.Err()
}
