package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// A session shows a run while it goes on: the tasks' output, and how they stand.
type session struct {
	a      *app
	svc    run.Service
	id     string
	screen *ui.Screen
	output *output
	view   *view

	// owner says that the run is ours: an interrupt stops it. Else it only
	// ends our looking at it.
	owner bool
}

// runAttached submits a job and stays with it.
func runAttached(ctx context.Context, a *app, svc run.Service, s run.Submission, show []string) error {
	// Caught from before the submission on, so that none finds us unprepared.
	signals := catchSignals()
	if err := checkShown(&s.Spec, show); err != nil {
		return err
	}
	r, err := a.submit(ctx, signals, svc, s)
	if err != nil {
		return err
	}
	return newSession(a, svc, r, true).follow(ctx, signals, run.LogQuery{Tasks: show, Tail: -1, Follow: true})
}

// printNotes tells what a person should know from the beginning.
func (a *app) printNotes(r run.Run) {
	for _, note := range r.Notes {
		fmt.Fprintln(a.stderr, "muster: note: "+clean(note))
	}
}

// submit submits a job, which may take a while when its code is fetched. What
// asks us to end ends that; when it comes too late, it stops the run.
func (a *app) submit(ctx context.Context, signals chan os.Signal, svc run.Service, s run.Submission) (run.Run, error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		run run.Run
		err error
	}
	submitted := make(chan result, 1)
	go func() {
		r, err := svc.Submit(within, s)
		submitted <- result{r, err}
	}()
	var asked []os.Signal
	for {
		select {
		case sig := <-signals:
			if asked = append(asked, sig); sig != syscall.SIGCONT {
				cancel()
			}
		case got := <-submitted:
			if got.err != nil && within.Err() != nil {
				fmt.Fprintln(a.stderr, "muster: interrupted; nothing was submitted")
				return got.run, exitStatus(run.ExitInterrupted)
			}
			for _, sig := range asked[:min(len(asked), cap(signals)-len(signals))] {
				signals <- sig // room for more than two is not needed: the second kills
			}
			return got.run, got.err
		}
	}
}

func newSession(a *app, svc run.Service, r run.Run, owner bool) *session {
	s := &session{a: a, svc: svc, id: r.ID, owner: owner}
	s.screen = ui.Open(a.stdout, a.stderr, a.env, 0)
	s.output = newOutput(s.screen, r.Spec.Tasks())
	s.view = newView(s.screen, r)
	return s
}

// catchSignals catches what asks us to end. A SIGHUP that was ignored when we
// were started, as nohup does, stays ignored.
func catchSignals() chan os.Signal {
	c := make(chan os.Signal, 8)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCONT)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(c, syscall.SIGHUP)
	}
	return c
}

// follow shows the run until it ends, then reports and exits as it did.
func (s *session) follow(ctx context.Context, signals chan os.Signal, q run.LogQuery) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go s.heedSignals(ctx, cancel, signals)
	logs := make(chan error, 1)
	go func() { logs <- s.svc.Logs(ctx, s.id, q, s.output.take) }()
	last, err := s.watch(ctx)
	if err == nil {
		err = <-logs
	}
	s.output.flush()
	_ = s.screen.Clear()
	defer func() { _ = s.screen.Close() }()
	if cause := context.Cause(ctx); errors.Is(cause, errDetached) {
		_ = s.screen.Flush()
		fmt.Fprintf(s.a.stderr, "muster: detached; %s goes on (muster attach %s)\n", s.id, s.id)
		return exitStatus(run.ExitInterrupted)
	}
	if err != nil {
		return err
	}
	_ = s.screen.Flush()
	// A reader that has seen enough is no trouble; a full disk is.
	if err := s.screen.Broken(ui.Out); err != nil && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintf(s.a.stderr, "muster: not all output could be shown: %v; all of it is kept: muster logs %s\n", err, s.id)
	}
	s.a.printReport(s.svc, last)
	return exitOf(last)
}

// watch keeps the view up to date until the run has ended. Its clock goes on
// when nothing else happens.
func (s *session) watch(ctx context.Context) (run.Run, error) {
	changes, ended := make(chan run.Run), make(chan error, 1)
	go func() {
		ended <- s.svc.Watch(ctx, s.id, func(r run.Run) error { changes <- r; return nil })
	}()
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	var last run.Run
	for {
		select {
		case last = <-changes:
		case <-ticks.C:
		case err := <-ended:
			return last, err
		}
		s.view.show(last)
	}
}

var errDetached = errors.New("detached")

// heedSignals stops the run when asked to: with grace, and at the second time
// without.
func (s *session) heedSignals(ctx context.Context, cancel context.CancelCauseFunc, signals chan os.Signal) {
	asked := 0
	for {
		var sig os.Signal
		select {
		case <-ctx.Done():
			return
		case sig = <-signals:
		}
		switch {
		case sig == syscall.SIGCONT:
			s.screen.Resume()
		case !s.owner:
			cancel(errDetached)
			return
		default:
			asked++
			over := !s.stop(ctx, sig, asked > 1)
			if asked > 2 || asked > 1 && over {
				s.screen.Abandon() // neither a reader that takes nothing nor much that is yet to be shown must hold us
			}
		}
	}
}

// signalWords says who stops a run with a signal, and the signal's name; both
// are empty for one that does not.
func signalWords(sig os.Signal) (by, name string) {
	switch sig {
	case syscall.SIGINT:
		return "Ctrl-C", "INT"
	case syscall.SIGTERM:
		return "SIGTERM", "TERM"
	case syscall.SIGHUP:
		return "SIGHUP (its terminal has gone)", "HUP"
	}
	return "", ""
}

// stop returns false when the run has ended by itself.
func (s *session) stop(ctx context.Context, sig os.Signal, force bool) bool {
	by, name := signalWords(sig)
	_, err := s.svc.Update(ctx, s.id, run.Intent{Want: run.WantStop, Signal: name, By: by, Force: force})
	if err != nil {
		return false
	}
	if force {
		s.view.say("killing what is left")
	} else {
		s.view.say("stopping; again to kill")
	}
	return true
}

// exitOf is the exit code that stands for a run.
func exitOf(r run.Run) error {
	if r.Verdict == nil || r.Verdict.Exit.Code == 0 {
		return nil
	}
	return exitStatus(r.Verdict.Exit.Code)
}

// runDetached submits a job and returns when its gang runs, or waits with a
// reason, or has failed already.
func runDetached(ctx context.Context, a *app, svc run.Service, s run.Submission) error {
	r, err := svc.Submit(ctx, s)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, r.ID)
	fmt.Fprintln(a.stderr, "muster: "+clean(headline(r)))
	a.printNotes(r)
	if r, err = until(ctx, svc, r, underWay); err != nil {
		return err
	}
	switch r.Phase {
	case run.Failed:
		a.printReport(svc, r)
		return exitOf(r)
	case run.Pending, run.Suspended:
		fmt.Fprintln(a.stderr, "muster: "+clean(plain(r)))
	}
	return nil
}

// underWay says that the one who submitted a run need not wait any longer: its
// gang has begun, or waits for something that has been said.
func underWay(r run.Run) bool {
	switch r.Phase {
	case run.Pending:
		return r.Reason != ""
	case run.Starting:
		return false
	}
	return true
}
