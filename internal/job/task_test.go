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
	if s.Replicas("worker") != 2 || s.Replicas("nobody") != 0 {
		t.Errorf("got %d workers and %d of nobody", s.Replicas("worker"), s.Replicas("nobody"))
	}
}

func TestCompareTasksCountsIndexes(t *testing.T) {
	tasks := []Task{{"worker", 10}, {"worker", 9}, {"server", 11}}
	slices.SortFunc(tasks, CompareTasks)
	if want := []Task{{"server", 11}, {"worker", 9}, {"worker", 10}}; !slices.Equal(tasks, want) {
		t.Errorf("got %v, want %v", tasks, want)
	}
}
