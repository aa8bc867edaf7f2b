//go:build linux

package control

import (
	"context"
	"os"
	"path/filepath"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/run"
)

// takeTurns gives to others what a run that has just been suspended had, or
// asks for it again when the run has been resumed.
func (o *owner) takeTurns(ctx context.Context, was run.Phase) {
	if (was == run.Suspended) == (o.run.Phase == run.Suspended) {
		return
	}
	_ = o.p.round(ctx) // the next one tries again
	o.nudge()
}

// rest leaves a suspended run: nothing of it is alive, and whoever resumes or
// stops it starts an owner.
func (o *owner) rest(ctx context.Context) error {
	if err := o.p.config.Engine.Forget(ctx, o.p.engineRun(&o.run)); err != nil {
		return err
	}
	for _, name := range []string{liveName, liveName + ".new"} {
		_ = os.Remove(filepath.Join(o.dir, name))
	}
	return o.p.round(ctx) // somebody may have waited for what it had
}

// finish leaves nothing behind of a run that has ended. After an error it
// leaves all as it is, for the next owner.
func (o *owner) finish(ctx context.Context, err error) error {
	if err != nil {
		return nil
	}
	crash.Point("owner.before-forget")
	if err := o.p.config.Engine.Forget(ctx, o.p.engineRun(&o.run)); err != nil {
		return err
	}
	crash.Point("owner.after-forget")
	o.p.leaveOnlyRecord(o.run.ID)
	if err := o.p.stopOthers(ctx, &o.run); err != nil {
		return err
	}
	if g := o.run.Grant; o.run.Group != nil || g != nil && (g.Slots > 0 || len(g.GPUs) > 0) {
		return o.p.round(ctx) // somebody may have waited for it
	}
	return nil
}
