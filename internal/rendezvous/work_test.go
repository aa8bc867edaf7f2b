package rendezvous

import (
	"slices"
	"strings"
	"testing"

	"muster.dev/muster/internal/job"
)

func TestFaults(t *testing.T) {
	const nothing = "run: the job has nothing to run"
	one := func() *job.Role { return &job.Role{Replicas: 1} }
	does := &job.Role{Replicas: 1, Run: "x"}
	for _, tt := range []struct {
		name string
		spec *job.Spec
		want string // start of the only fault; empty: none
	}{
		{"the worker's is the others' under mxnet", as("mxnet", map[string]*job.Role{"scheduler": one(), "server": one(), "worker": does}), ""},
		{"mxnet with nothing to run", as("mxnet", map[string]*job.Role{"scheduler": one(), "server": one(), "worker": one()}), nothing},
		{"a launcher is mpirun", as("mpi", map[string]*job.Role{"launcher": one(), "worker": does}), ""},
		{"mpi with nothing to run", as("mpi", map[string]*job.Role{"launcher": one(), "worker": one()}), nothing},
		{"tvm brings what serves", as("tvm", map[string]*job.Role{"tracker": one(), "server": one(), "tuner": does}), ""},
		{"a launcher without mpirun", as("plain", map[string]*job.Role{"launcher": one(), "worker": does}), "roles.launcher.run: role launcher has nothing to run"},
		{"a role that is left out", as("mxnet", map[string]*job.Role{"evaluator": one(), "worker": does}), "roles.evaluator.run: role evaluator has nothing to run"},
		{"an image brings a program", as("plain", map[string]*job.Role{"worker": {Replicas: 1, Image: &job.Image{Name: "i"}}}), ""},
		{"no roles", as("plain", nil), "roles: no role has any replicas"},
		{"no tasks", as("mxnet", map[string]*job.Role{"worker": {Run: "x"}}), "roles: no role has any replicas"},
		{"what holds for every job", as("plain", map[string]*job.Role{"worker": {Replicas: 1, Run: "x", Procs: "two"}}), "roles.worker.procs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			faults := Faults(tt.spec)
			if tt.want == "" && len(faults) > 0 || tt.want != "" && (len(faults) != 1 || !strings.HasPrefix(faults[0].String(), tt.want)) {
				t.Errorf("got %v, want %q", faults, tt.want)
			}
		})
	}
}

// What the facts promise of a role, completion keeps: one that is added is
// there, and one that is given something to run has it.
func TestFactsHoldAfterCompletion(t *testing.T) {
	for _, f := range frameworks {
		facts := f.Facts()
		t.Run(facts.Name, func(t *testing.T) {
			s := as(facts.Name, map[string]*job.Role{"worker": {Replicas: 1, Run: "x"}})
			for _, name := range facts.Given {
				if !slices.Contains(facts.Adds, name) {
					s.Roles[name] = &job.Role{Replicas: 1}
				}
			}
			Complete(s)
			for _, name := range facts.Adds {
				if s.TaskCount(name) != 1 {
					t.Errorf("%d of %s, want one", s.TaskCount(name), name)
				}
			}
			for _, name := range facts.Given {
				if r := s.Roles[name]; !facts.Ranks && !hasCommand(r) { // a launcher's line is made when it is started
					t.Errorf("%s has nothing to run", name)
				}
			}
			if facts.Servers == "" || facts.Hangs == "" {
				t.Errorf("a fact is missing: %+v", facts)
			}
		})
	}
}
