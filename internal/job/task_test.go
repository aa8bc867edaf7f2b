package job

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestParseTask(t *testing.T) {
	tests := []struct {
		in   string
		want Task
	}{
		{"worker-0", Task{"worker", 0}},
		{"worker-12", Task{"worker", 12}},
		{"my-role-3", Task{"my-role", 3}},
	}
	for _, tt := range tests {
		got, err := ParseTask(tt.in)
		if err != nil || got != tt.want || got.String() != tt.in {
			t.Errorf("%s: got %v, %v", tt.in, got, err)
		}
	}
	for _, in := range []string{"", "worker", "-1", "worker-", "worker-x", "worker-1x"} {
		if got, err := ParseTask(in); err == nil {
			t.Errorf("%q is read as %v", in, got)
		}
	}
}

func TestTaskIsAKeyInJSON(t *testing.T) {
	text, err := json.Marshal(map[Task]Instance{{"worker", 1}: {Task{"worker", 1}, 2, 3}})
	want := `{"worker-1":{"task":"worker-1","attempt":2,"try":3}}`
	if err != nil || string(text) != want {
		t.Fatalf("got %s, %v, want %s", text, err, want)
	}
	var back map[Task]Instance
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if i := back[Task{"worker", 1}]; i.String() != "worker-1/2.3" {
		t.Errorf("got %v", back)
	}
}

func TestTasksAreInOrder(t *testing.T) {
	s := Spec{Roles: map[string]*Role{
		"worker": {Replicas: 2}, "zoo": {Replicas: 1}, "scheduler": {Replicas: 1},
		"server": {Replicas: 1}, "apes": {Replicas: 1}, "tuner": {Replicas: 0},
	}}
	var got []string
	for _, task := range s.Tasks() {
		got = append(got, task.String())
	}
	want := []string{"scheduler-0", "server-0", "worker-0", "worker-1", "apes-0", "zoo-0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if slices.Contains(s.RoleNames(), "tuner") {
		t.Error("a role without tasks is among the names")
	}
	if s.TaskCount("worker") != 2 || s.TaskCount("nobody") != 0 {
		t.Errorf("got %d workers and %d of nobody", s.TaskCount("worker"), s.TaskCount("nobody"))
	}
}

func TestReplicasHaveProcesses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		role  Role
		tasks int
		gpus  []int // of each task
	}{
		{"one each", Role{Replicas: 2, Resources: Resources{GPUs: 3}}, 2, []int{3, 3}},
		{"several each share the GPUs", Role{Replicas: 2, Procs: "2", Resources: Resources{GPUs: 2}}, 4, []int{1, 1, 1, 1}},
		{"shares may differ", Role{Replicas: 1, Procs: "2", Resources: Resources{GPUs: 3}}, 2, []int{1, 2}},
		{"more processes than GPUs", Role{Replicas: 1, Procs: "2", Resources: Resources{GPUs: 1}}, 2, []int{0, 1}},
		{"one for each GPU", Role{Replicas: 1, Procs: "gpus", Resources: Resources{GPUs: 2}}, 2, []int{1, 1}},
		{"one where there are no GPUs", Role{Replicas: 2, Procs: "gpus"}, 2, []int{0, 0}},
		{"nonsense is checked elsewhere", Role{Replicas: 1, Procs: "many"}, 1, []int{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Spec{Roles: map[string]*Role{"worker": &tt.role}}
			var gpus []int
			for _, task := range s.Tasks() {
				gpus = append(gpus, s.GPUsOf(task))
			}
			if s.TaskCount("worker") != tt.tasks || !slices.Equal(gpus, tt.gpus) {
				t.Errorf("%d tasks with GPUs %v; want %d with %v", s.TaskCount("worker"), gpus, tt.tasks, tt.gpus)
			}
		})
	}
	if n := (&Spec{}).GPUsOf(Task{Role: "nobody"}); n != 0 {
		t.Errorf("nobody has %d GPUs", n)
	}
}

func TestCompareTasksCountsIndexes(t *testing.T) {
	tasks := []Task{{"worker", 10}, {"worker", 9}, {"server", 11}}
	slices.SortFunc(tasks, CompareTasks)
	if want := []Task{{"server", 11}, {"worker", 9}, {"worker", 10}}; !slices.Equal(tasks, want) {
		t.Errorf("got %v, want %v", tasks, want)
	}
}
