//go:build linux

package control

import (
	"maps"
	"slices"
	"strings"

	"muster.dev/muster/internal/launch"
	"muster.dev/muster/internal/pool"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/rendezvous"
	"muster.dev/muster/internal/run"
)

// resize gives the roles of a suspended run other sizes. The sizes belong to an
// attempt: a gang cannot take in or lose a member while it runs. Sizes that can
// never be are told before that, so that nobody suspends a run for them.
func resize(r *run.Run, sizes map[string]int) error {
	if len(sizes) == 0 {
		return nil
	}
	roles := maps.Clone(r.Spec.Roles)
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if roles[name] == nil {
			return problem.New(problem.Invalid, "%s has no role %q", r.ID, name).WithHint("its roles: %s", strings.Join(r.Spec.RoleNames(), ", "))
		}
		role := *roles[name]
		role.Replicas = sizes[name]
		roles[name] = &role
	}
	r.Spec.Roles = roles
	var list problem.List
	for _, f := range rendezvous.Faults(&r.Spec) {
		list = append(list, &problem.Error{Kind: problem.Invalid, Field: f.Field(), Text: f.Text})
	}
	if fw, err := rendezvous.ByName(r.Spec.Framework.Name); err == nil {
		list = append(list, fw.Check(&r.Spec)...)
	}
	if err := append(list, launch.Faults(&r.Spec)...).Err(); err != nil {
		return err
	}
	if m := r.Machine; m != nil {
		if why := (pool.Capacity{Slots: m.Slots, GPUs: m.GPUs}).Impossible(pool.ClaimOf(&r.Spec)); why != "" {
			return problem.New(problem.Refused, "with these sizes %s", why)
		}
	}
	if r.Phase != run.Suspended {
		return problem.New(problem.Conflict, "%s is not suspended, and a gang that runs keeps its size", r.ID).WithHint("muster suspend %s", r.ID)
	}
	return nil
}
