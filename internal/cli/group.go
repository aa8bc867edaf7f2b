package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// A groupFile is a job file that turned out to be a group: an error where one
// job is wanted.
type groupFile struct {
	group *job.Group
	path  string
	base  string

	locate func(inGroup string) locator
}

func (g *groupFile) Error() string {
	return g.path + " is a group of jobs, and here one job is wanted"
}

// runGroup submits a group and, unless it is to be detached, stays with it.
func runGroup(ctx context.Context, a *app, o runOptions, f *groupFile) error {
	if len(o.show) > 0 {
		return problem.New(problem.Invalid, "--show is for one job, and %s is a group", f.path).WithHint("muster attach JOB --show TASK")
	}
	s, err := groupSubmission(o, f)
	if err != nil {
		return err
	}
	svc, err := a.open()
	if err != nil {
		return err
	}
	groups, ok := svc.(run.Groups)
	if !ok {
		return problem.New(problem.Refused, "this service takes no groups")
	}
	signals := catchSignals()
	runs, err := groups.SubmitGroup(ctx, s)
	if err != nil {
		return err
	}
	if o.detach {
		fmt.Fprintln(a.stdout, runs[0].Group.ID)
		fmt.Fprintln(a.stderr, "muster: "+groupLine(runs))
		return nil
	}
	return newGroupSession(a, svc, runs).follow(ctx, signals)
}

func groupSubmission(o runOptions, f *groupFile) (run.GroupSubmission, error) {
	g := run.GroupSubmission{Group: *f.group, Jobs: map[string]run.Submission{}}
	if o.name != "" {
		g.Group.Name = o.name
	}
	if g.Group.Name == "" {
		g.Group.Name = nameFrom([]string{f.base})
	}
	o.name = ""
	cwd, err := os.Getwd()
	if err != nil {
		return g, err
	}
	var wrong problem.List
	for _, name := range slices.Sorted(maps.Keys(f.group.Jobs)) {
		s := run.Submission{Env: os.Environ(), Origin: run.Origin{Dir: cwd}}
		err := submitFrom(&s, f.group.Jobs[name], f.path, f.base, f.locate(name))
		var list problem.List
		if errors.As(err, &list) {
			for _, e := range list {
				wrong = addOnce(wrong, e)
			}
			continue
		}
		if err == nil {
			err = override(&s, o)
		}
		if err != nil {
			return g, err
		}
		g.Jobs[name] = s
	}
	return g, wrong.Err()
}

// A groupSession shows the runs of a group while they go on.
type groupSession struct {
	a      *app
	svc    run.Service
	screen *ui.Screen

	// owner says that the group is ours: an interrupt stops it. Else it only
	// ends our looking at it.
	owner bool
	tail  int // how many lines of each task are shown of what was before

	mu   sync.Mutex
	runs []run.Run // as they were last seen, in the order of their jobs
}

func newGroupSession(a *app, svc run.Service, runs []run.Run) *groupSession {
	return &groupSession{a: a, svc: svc, runs: runs, screen: ui.Open(a.stdout, a.stderr, a.env, 0), owner: true, tail: -1}
}

func (s *groupSession) say(format string, args ...any) {
	printFitted(s.screen, "muster: "+fmt.Sprintf(format, args...))
}

// groupLine is the first line of a group: what will run, and from which code.
func groupLine(runs []run.Run) string {
	var codes []string
	for _, r := range runs {
		if code := codeLine(r); !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	line := fmt.Sprintf("group %s: %s   %s", runs[0].Group.ID, counted(len(runs), "job"), runs[0].Engine)
	if len(codes) == 1 {
		line += "   " + codes[0]
	}
	return line
}

// follow shows all jobs until the last has ended, and exits as the first that
// failed did.
func (s *groupSession) follow(ctx context.Context, signals chan os.Signal) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	id := s.runs[0].Group.ID
	s.say("%s", groupLine(s.runs))
	go s.heedSignals(ctx, cancel, signals)
	names := groupTasks(s.runs)
	errs := make([]error, len(s.runs))
	var wg sync.WaitGroup
	for n := range s.runs {
		wg.Go(func() { errs[n] = s.followJob(ctx, n, names) })
	}
	wg.Wait()
	_ = s.screen.Close()
	if errors.Is(context.Cause(ctx), errDetached) {
		fmt.Fprintf(s.a.stderr, "muster: detached; group %s goes on (muster attach %s)\n", id, id)
		return exitStatus(run.ExitInterrupted)
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return s.report()
}

// followJob shows one job: its phases, and its tasks' output.
func (s *groupSession) followJob(ctx context.Context, n int, names []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := s.runs[n]
	logs := make(chan error, 1)
	out := newNamedOutput(s.screen, names)
	out.job = r.Group.Job + "/"
	go func() { logs <- s.svc.Logs(ctx, r.ID, run.LogQuery{Tail: s.tail, Follow: true}, out.take) }()
	said := ""
	err := s.svc.Watch(ctx, r.ID, func(now run.Run) error {
		s.mu.Lock()
		s.runs[n] = now
		s.mu.Unlock()
		if line := jobLine(now); line != said && line != "" && !now.Done() {
			said = line
			s.say("%s", line)
		}
		return nil
	})
	if err != nil {
		cancel() // the output is ours again once nobody writes to it
	}
	if lerr := <-logs; err == nil {
		err = lerr
	}
	out.flush()
	if err == nil { // its end comes after its last words, also where these go elsewhere
		_ = s.screen.Flush()
		s.say("%s", jobLine(s.seen(n)))
	}
	return err
}

// seen is a run as it was last seen.
func (s *groupSession) seen(n int) run.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[n]
}

// jobLine is how a job of a group stands, "" while there is nothing to tell.
func jobLine(r run.Run) string {
	switch {
	case r.Phase == run.Starting, r.Phase == run.Ending && r.Reason == "", r.Phase == run.Pending && r.Reason == "":
		return ""
	case r.Done() && !r.Skipped() && r.Reason == "":
		return fmt.Sprintf("%s %s in %s", r.Group.Job, status(r), ui.Took(r.Took))
	case r.Reason != "":
		return fmt.Sprintf("%s %s: %s%s", r.Group.Job, status(r), r.Reason, resumeWords(r))
	}
	return fmt.Sprintf("%s %s, attempt %d", r.Group.Job, status(r), r.Attempt)
}

// heedSignals stops every job of the group.
func (s *groupSession) heedSignals(ctx context.Context, cancel context.CancelCauseFunc, signals chan os.Signal) {
	for asked := 0; ; {
		select {
		case <-ctx.Done():
			return
		case sig := <-signals:
			by, name := signalWords(sig)
			if name == "" {
				continue
			}
			if !s.owner {
				cancel(errDetached)
				return
			}
			asked++
			s.mu.Lock()
			runs := slices.Clone(s.runs)
			s.mu.Unlock()
			for _, r := range runs {
				// One that has ended by itself is no longer to be stopped.
				_, _ = s.svc.Update(ctx, r.ID, run.Intent{Want: run.WantStop, Signal: name, By: by, Force: asked > 1})
			}
		}
	}
}

// report says how the group ended, with the verdict on the job that decided.
func (s *groupSession) report() error {
	phase, why, exit := run.Fold(s.runs)
	for _, r := range s.runs {
		if r.Phase == run.Failed {
			s.a.printReport(s.svc, r)
		}
	}
	st := ui.Detect(s.a.stderr, s.a.env)
	mark := ui.Failed
	if phase == run.Succeeded {
		mark = ui.OK
	}
	fmt.Fprintf(s.a.stderr, "%s group %s %s: %s\n", st.Mark(mark), s.runs[0].Group.ID, phase, clean(why))
	if exit.Code == 0 {
		return nil
	}
	return exitStatus(exit.Code)
}
