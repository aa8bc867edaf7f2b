//go:build linux

package control

import (
	"context"
	"slices"
	"time"

	"muster.dev/muster/internal/pool"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// roundInterval is how often an owner whose run waits looks whether it may go
// on, in case whoever should have told it has died.
const roundInterval = 2 * time.Second

// capacity is what this machine has to give whole.
func (p *Plane) capacity() pool.Capacity {
	c := p.config.Engine.Capabilities()
	return pool.Capacity{Slots: c.Slots, GPUs: c.GPUs}
}

// admit refuses a run that could never be given what it needs, and grants at
// once one that needs nothing scarce: it costs no transaction.
func (p *Plane) admit(r *run.Run) error {
	c, want := p.capacity(), pool.ClaimOf(&r.Spec)
	if why := c.Impossible(want); why != "" {
		e := problem.New(problem.Refused, "%s", why)
		if want.GPUs > len(c.GPUs) {
			return e.WithHint("--gpus 0 tries it on the CPU")
		}
		return e.WithHint("raise slots in the configuration, or run fewer tasks")
	}
	if c.Slots == 0 && want.GPUs == 0 {
		r.Grant = &run.Grant{}
	}
	r.Machine = &run.Machine{Slots: c.Slots, GPUs: c.GPUs}
	return nil
}

// toShare is what there is to give out: what the newest of the runs that wait
// was submitted with, as the variables and the configuration of whoever looks at
// the queue need not be those of whoever filled it.
func (p *Plane) toShare(active []*run.Run) pool.Capacity {
	for _, r := range slices.Backward(active) {
		if r.Phase == run.Pending && r.Grant == nil && r.Machine != nil {
			return pool.Capacity{Slots: r.Machine.Slots, GPUs: r.Machine.GPUs}
		}
	}
	return p.capacity()
}

// round gives what is free to the runs that wait, and wakes those that got it.
func (p *Plane) round(ctx context.Context) error {
	groups, err := p.settleNeeds(ctx)
	if err != nil {
		return err
	}
	var granted, held []*run.Run
	err = p.config.Store.UpdateActive(ctx, func(active []*run.Run) (changed []*run.Run, err error) {
		held = changedSince(groups, active)
		for _, r := range held {
			r.Grant = &run.Grant{} // not in this round
		}
		granted, changed = pool.Round(p.toShare(active), active)
		for _, r := range held {
			r.Grant = nil
		}
		return changed, nil
	})
	if err != nil {
		return err
	}
	for _, r := range granted {
		p.nudge(r.ID)
		if !r.Attached && !owned(p.runDir(r.ID)) {
			_ = p.startOwner(r.ID) // the next look at the run tries again
		}
	}
	if len(held) > 0 {
		return p.round(ctx) // with what has ended meanwhile
	}
	return nil
}

// changedSince are the runs that wait in a group of which some job has ended
// since we looked at what that means for the others.
func changedSince(groups map[string][]string, active []*run.Run) (held []*run.Run) {
	alive := map[string]bool{}
	for _, r := range active {
		alive[r.ID] = true
	}
	for _, r := range active {
		if r.Phase != run.Pending || r.Grant != nil || r.Group == nil {
			continue
		}
		if slices.ContainsFunc(groups[r.Group.ID], func(id string) bool { return !alive[id] }) {
			held = append(held, r)
		}
	}
	return held
}

// waits says that a run has no owner because it waits for its turn: an owner
// per run that waits would fill the machine.
func waits(r *run.Run) bool {
	return r.Phase == run.Pending && r.Grant == nil && r.Intent.Want != run.WantStop && r.Intent.Want != run.WantSuspend && r.Spec.Limits.Queue == 0
}

// sleeps says that a run is suspended and needs no owner until somebody wants
// something else of it. An attached one keeps its own, with which it ends.
func sleeps(r *run.Run) bool {
	return r.Phase == run.Suspended && r.Intent.Want == run.WantSuspend && !r.Attached
}
