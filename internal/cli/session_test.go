package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// over is a service whose run has ended.
type over struct{ run.Service }

func (over) Update(context.Context, string, run.Intent) (run.Run, error) {
	return run.Run{}, errors.New("it has ended")
}

// Much that is yet to be shown of a run that has ended does not hold somebody
// who asks twice.
func TestSecondSignalEndsShowing(t *testing.T) {
	screen := ui.NewScreen(ui.Config{Out: io.Discard, Err: io.Discard})
	s := &session{svc: over{}, screen: screen, owner: true}
	signals := make(chan os.Signal, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	signals <- syscall.SIGINT
	go s.heedSignals(ctx, cancel, signals)
	signals <- syscall.SIGINT
	<-screen.Gone(ui.Out)
}

func TestOutputToNobodyIsDropped(t *testing.T) {
	screen := ui.NewScreen(ui.Config{Out: io.Discard, Err: io.Discard})
	task := job.Task{Role: "worker"}
	c := run.LogChunk{Instance: job.Instance{Task: task}, Stream: engine.Stdout, Data: []byte("a\nb\n")}
	o := newOutput(screen, []job.Task{task})
	shown := 0
	o.source(c).lines = ui.NewLines(func([]byte, bool) { shown++ })
	if err := o.take(c); err != nil || shown != 2 {
		t.Fatalf("%d lines, %v", shown, err)
	}
	screen.Abandon()
	if err := o.take(c); err != nil || shown != 2 {
		t.Errorf("%d lines, %v: nobody reads them", shown, err)
	}
}
