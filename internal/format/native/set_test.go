package native

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/rendezvous"
)

const setFile = `
name: digits
framework: mxnet
workers: 2
servers: 1
run: python train.py
restart: 3
env: {LR: 0.1, KEEP: yes}
outputs: [a, b]
`

func TestSet(t *testing.T) {
	tests := []struct{ name, set, path, want string }{
		{"a field", "limits.run=4h", "limits.run", `"4h"`},
		{"a field that is there", "workers=4", "roles.worker.replicas", `4`},
		{"text as written", "env.LR=0.10", "roles.worker.env.LR", `"0.10"`},
		{"others stay", "env.LR=0.10", "roles.worker.env.KEEP", `"yes"`},
		{"text with colons", "run=python a.py: b # c", "roles.worker.run", `"python a.py: b # c"`},
		{"a command in place of run", "command=[python, b.py]", "roles.worker.command", `["python","b.py"]`},
		{"text with an equals sign", "env.A=b=c", "roles.worker.env.A", `"b=c"`},
		{"an empty text", "env.LR=", "roles.worker.env.LR", `""`},
		{"a role of its own", "roles.worker.resources.gpus=2", "roles.worker.resources.gpus", `2`},
		{"a short form made long", "restart.backoff=1s", "restart", `{"limit":3,"backoff":"1s"}`},
		{"a short form made long by name", "framework.port=9000", "framework", `{"name":"mxnet","port":9000}`},
		{"a list", "outputs=[x, {path: y, when: failure}]", "outputs", `[{"path":"x"},{"path":"y","when":"failure"}]`},
		{"an item", "outputs[1]=c", "outputs", `[{"path":"a"},{"path":"c"}]`},
		{"one more item", "outputs[2]=c", "outputs", `[{"path":"a"},{"path":"b"},{"path":"c"}]`},
		{"a field of a new item", "inputs[0].from=data", "inputs", `[{"from":"data"}]`},
		{"a map", "limits={run: 1h, stall: 2m}", "limits", `{"run":"1h","stall":"2m"}`},
		{"a key with dots", `labels."example.com/team"=vision`, "labels", `{"example.com/team":"vision"}`},
		{"quoted text", `labels.n="5"`, "labels.n", `"5"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec, err := Parse("muster.yaml", []byte(setFile), tt.set)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(spec)
			if err != nil {
				t.Fatal(err)
			}
			var v any
			if err := json.Unmarshal(text, &v); err != nil {
				t.Fatal(err)
			}
			for step := range strings.SplitSeq(tt.path, ".") {
				v = v.(map[string]any)[step]
			}
			if got, _ := json.Marshal(v); !sameJSON(t, string(got), tt.want) {
				t.Errorf("%s is %s, want %s", tt.path, got, tt.want)
			}
		})
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		t.Fatalf("%s or %s is not JSON", a, b)
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

func TestSetProblems(t *testing.T) {
	tests := []struct{ name, set, want string }{
		{"no value", "limits.run", "--set limits.run: is no path=value, such as limits.run=4h"},
		{"no path", "=4h", "is no path=value"},
		{"an empty step", "limits..run=4h", "is no path=value"},
		{"an open bracket", "outputs[=x", "is no path=value"},
		{"a wrong field", "limits.rum=4h", `--set limits.rum=4h: limits.rum: unknown field; did you mean "run"?`},
		{"a wrong value", "workers=two", `--set workers=two: workers: "two" is not a whole number`},
		{"a wrong rule", "restart.scope=all", `--set restart.scope=all: restart.scope: "all" is not one of`},
		{"a field of text", "run.x=y", `--set run.x=y: run: is "python train.py" here, which has no fields`},
		{"no such item", "outputs[7]=c", "there is no such item"},
		{"an item of a map", "env[0]=c", "there is no such item"},
		{"broken YAML", "outputs=[a", "the value is not YAML"},
		{"not UTF-8", "env.A=\xff", "is not text in UTF-8"},
		{"a key with NUL", `env."a\0b"=x`, "is no path=value"},
		{"twice", "roles.worker.replicas=3", "also given as roles.worker.replicas"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("muster.yaml", []byte(setFile), tt.set)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

func TestSetInWrapper(t *testing.T) {
	file := "apiVersion: muster.dev/v1alpha1\nkind: Job\nmetadata: {name: a}\nspec: {run: x}\n"
	spec, err := Parse("muster.yaml", []byte(file), "name=b", "labels.team=vision", "limits.run=1h")
	if err != nil {
		t.Fatal(err)
	}
	if spec.Name != "b" || spec.Labels["team"] != "vision" || spec.Limits.Run.String() != "1h" {
		t.Errorf("%+v", spec)
	}
}

func TestSetInGroup(t *testing.T) {
	_, g, err := ParseFile("muster.yaml", []byte("name: g\njobs:\n  a: {run: x}\n  b: {run: y}\n"), "max_parallel=1", "jobs.a.run=z", "env.K=v")
	if err != nil {
		t.Fatal(err)
	}
	if g.MaxParallel != 1 || g.Jobs["a"].Roles["worker"].Run != "z" || g.Jobs["b"].Roles["worker"].Env["K"] != "v" {
		t.Errorf("%+v", g)
	}
}

func FuzzSet(f *testing.F) {
	for _, set := range []string{"limits.run=4h", `labels."a.b"=c`, "outputs[0].path=x", "outputs=[a, b]", "roles.worker={}", "x-a[0][1]=[", "a.b.c.d=1", "framework.port=1"} {
		f.Add(setFile, set)
		f.Add("apiVersion: muster.dev/v1alpha1\nkind: Job\nspec: {run: x}\n", set)
		f.Add("jobs: {a: {run: x}}\n", set)
	}
	f.Fuzz(func(t *testing.T, file, set string) {
		spec, group, err := ParseFile("muster.yaml", []byte(file), set)
		var list problem.List
		switch {
		case err == nil && spec == nil && group == nil:
			t.Error("neither a job nor a group nor a problem")
		case err == nil && spec != nil:
			roundTrip(t, spec)
			if faults := rendezvous.Faults(spec); len(faults) > 0 {
				t.Errorf("accepted with %v", faults)
			}
		case err != nil && (!errors.As(err, &list) || len(list) == 0):
			t.Errorf("the error is a %T", err)
		}
	})
}
