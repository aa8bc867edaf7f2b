package job

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Task is one member of a role.
type Task struct {
	Role  string
	Index int
}

func (t Task) String() string { return t.Role + "-" + strconv.Itoa(t.Index) }

// MarshalText gives the task's name, worker-3, also as a key of a map.
func (t Task) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a task's name.
func (t *Task) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTask(string(b))
	return err
}

// ParseTask reads a task's name: worker-3.
func ParseTask(s string) (Task, error) {
	at := strings.LastIndexByte(s, '-')
	if at <= 0 {
		return Task{}, fmt.Errorf("%q is not a task name (want one like worker-3)", s)
	}
	n, err := strconv.Atoi(s[at+1:])
	if err != nil || n < 0 {
		return Task{}, fmt.Errorf("%q is not a task name (want one like worker-3)", s)
	}
	return Task{s[:at], n}, nil
}

// An Instance is one start of a task. Logs and exits belong to instances.
// Attempt and Try count from 1.
type Instance struct {
	Task    Task `json:"task"`
	Attempt int  `json:"attempt"`
	Try     int  `json:"try"`
}

func (i Instance) String() string {
	return fmt.Sprintf("%s/%d.%d", i.Task, i.Attempt, i.Try)
}

// roleOrder is the order in which people think of roles; others follow by name.
var roleOrder = []string{"launcher", "scheduler", "tracker", "chief", "ps", "server", "worker", "evaluator", "tuner"}

// CompareRoles orders role names for people.
func CompareRoles(a, b string) int {
	rank := func(r string) int {
		if i := slices.Index(roleOrder, r); i >= 0 {
			return i
		}
		return len(roleOrder)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
}

// CompareTasks orders tasks by role, then index.
func CompareTasks(a, b Task) int {
	return cmp.Or(CompareRoles(a.Role, b.Role), cmp.Compare(a.Index, b.Index))
}

// CompareInstances orders instances by attempt, then task, then try.
func CompareInstances(a, b Instance) int {
	return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), CompareTasks(a.Task, b.Task), cmp.Compare(a.Try, b.Try))
}

// RoleNames returns the names of the roles that have tasks, in order.
func (s *Spec) RoleNames() []string {
	var names []string
	for n, r := range s.Roles {
		if r.Replicas > 0 {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, CompareRoles)
	return names
}

// Tasks returns every task of the job, in order.
func (s *Spec) Tasks() []Task {
	var all []Task
	for _, n := range s.RoleNames() {
		for i := range s.TaskCount(n) {
			all = append(all, Task{n, i})
		}
	}
	return all
}

// TaskCount returns how many tasks a role has, 0 for one the job does not have:
// a task for each process of each of its replicas.
func (s *Spec) TaskCount(role string) int {
	if r := s.Roles[role]; r != nil {
		return r.Replicas * r.PerReplica()
	}
	return 0
}

// ReplicaOf returns the tasks of a task's replica, itself among them; nil when
// it is alone.
func (s *Spec) ReplicaOf(t Task) (all []Task) {
	n := s.Roles[t.Role].PerReplica()
	if n == 1 {
		return nil
	}
	for i := range n {
		all = append(all, Task{t.Role, t.Index/n*n + i})
	}
	return all
}

// PerReplica returns how many processes each replica has, at least one. The
// tasks of a replica follow each other.
func (r *Role) PerReplica() int {
	n := r.Resources.GPUs
	if r.Procs != "gpus" {
		n, _ = strconv.Atoi(r.Procs)
	}
	return min(max(n, 1), MaxReplicas)
}

// GPUsOf returns how many of its replica's GPUs are a task's own share.
func (s *Spec) GPUsOf(t Task) int {
	r := s.Roles[t.Role]
	if r == nil {
		return 0
	}
	n, i := r.PerReplica(), t.Index%r.PerReplica()
	return r.Resources.GPUs*(i+1)/n - r.Resources.GPUs*i/n
}
