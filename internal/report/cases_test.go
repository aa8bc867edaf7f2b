package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

var (
	begun = time.Date(2026, 1, 2, 3, 25, 0, 0, time.UTC)
	now   = begun.Add(45 * time.Second)
)

type example struct {
	run  run.Run
	last []Line
}

// gang is an MXNet run whose tasks all run.
func gang(id string, workers int) run.Run {
	s := job.Spec{Name: "train", Framework: job.Framework{Name: "mxnet"}, Roles: map[string]*job.Role{
		"scheduler": {Replicas: 1}, "server": {Replicas: 1}, "worker": {Replicas: workers},
	}}
	r := run.Run{ID: id, Spec: s, Phase: run.Running, Attempt: 1, Created: begun, Started: begun, Engine: "local"}
	for n, t := range s.Tasks() {
		r.Tasks = append(r.Tasks, engine.Instance{
			Instance: job.Instance{Task: t, Attempt: 1, Try: 1}, State: engine.Running, Node: "vm", Pid: 41277 + n, Joined: true, Started: begun,
			Usage: engine.Usage{Silent: time.Duration(n) * 100 * time.Millisecond, CPU: 0.31, Memory: 125e6},
		})
	}
	return r
}

// ddp is a torch run whose tasks all run.
func ddp() run.Run {
	r := gang("ddp-8d1a", 2)
	r.Spec.Framework.Name = "torch"
	delete(r.Spec.Roles, "scheduler")
	delete(r.Spec.Roles, "server")
	r.Tasks = slices.DeleteFunc(r.Tasks, func(i engine.Instance) bool { return i.Task.Role != "worker" })
	return r
}

func instance(r *run.Run, task string) *engine.Instance {
	n := slices.IndexFunc(r.Tasks, func(i engine.Instance) bool { return i.Task.String() == task })
	return &r.Tasks[n]
}

// fail ends a run by the failure of worker-1; how says what the supervisor says.
func fail(r run.Run, f run.Failure, code int, how func(*engine.Instance)) run.Run {
	at := begun.Add(5 * time.Second)
	i := instance(&r, "worker-1")
	i.State, i.Cause, i.Ended = engine.Exited, engine.ByExit, at
	how(i)
	ended := *i
	f.Attempt, f.Kind, f.Task, f.At, f.Instance = r.Attempt, "task", &ended.Task, at, &ended
	for n := range r.Tasks {
		if o := &r.Tasks[n]; o.Task != i.Task {
			o.State, o.Cause, o.Signal, o.Asked, o.Ended = engine.Exited, engine.BySignal, "TERM", true, at.Add(110*time.Millisecond)
			f.Then = append(f.Then, run.Consequence{Task: o.Task, What: "was ended (SIGTERM)"})
		}
	}
	return end(r, run.Verdict{Phase: run.Failed, Headline: "worker-1 " + f.What, Exit: run.Exit{Code: code, By: "task"}, First: &f})
}

// failBy ends a run by something that is no task's failure.
func failBy(r run.Run, f run.Failure) run.Run {
	f.Attempt, f.At = 1, begun.Add(5*time.Second)
	headline := f.What
	if f.Task != nil {
		headline = f.Task.String() + " " + f.What
	}
	for n := range r.Tasks {
		r.Tasks[n].State, r.Tasks[n].Ended = engine.Exited, f.At.Add(110*time.Millisecond)
		f.Then = append(f.Then, run.Consequence{Task: r.Tasks[n].Task, What: "was ended (SIGTERM)"})
	}
	return end(r, run.Verdict{Phase: run.Failed, Headline: headline, Exit: run.Exit{Code: 124, By: "muster"}, First: &f})
}

// again is a run that has failed before.
func again(times int) run.Run {
	r := gang("train-p7xq", 2)
	r.Restarts, r.Attempt, r.Spec.Restart.Limit = times, times+1, 5
	for n := range times {
		t := job.Task{Role: "worker", Index: 1}
		r.Failures = append(r.Failures, run.Failure{Attempt: n + 1, Task: &t, What: "was killed from outside (SIGKILL)"})
	}
	return r
}

func end(r run.Run, v run.Verdict) run.Run {
	r.Phase, r.Verdict, r.Took, r.Ended = v.Phase, &v, 5*time.Second, now
	return r
}

func phase(r run.Run, p run.Phase, reason string) run.Run {
	r.Phase, r.Reason = p, reason
	return r
}

var traceback = []Line{
	{engine.Stderr, `  File "train.py", line 24, in <module>`},
	{engine.Stderr, `    raise ValueError("bad label -1 in shard 3")`},
	{engine.Stderr, "ValueError: bad label -1 in shard 3"},
}

func cases() map[string]example {
	all := endedCases()
	for name, c := range underWayCases() {
		all[name] = c
	}
	return all
}

func endedCases() map[string]example {
	own := run.Failure{What: "exited with code 3", Class: run.Permanent, Why: "code 3 is the program's own"}
	exit := func(i *engine.Instance) { i.Code = 3 }
	raise := run.Failure{What: "raised ValueError: bad label -1 in shard 3", Class: run.Permanent, Why: "an exception in your code"}
	hang := func(i *engine.Instance) {
		i.Code, i.Raised = 1, &engine.Exception{Type: "ValueError", Hung: true, After: 2 * time.Second}
	}
	worker := job.Task{Role: "worker", Index: 1}
	stalled := ddp()
	silent := *instance(&stalled, "worker-1")
	return map[string]example{
		"failed by exit":            {fail(gang("train-p7xq", 2), own, 3, exit), []Line{{engine.Stdout, "epoch 1  loss 1.1223"}}},
		"failed by exception hung":  {fail(gang("train-p7xq", 2), raise, 1, hang), traceback},
		"failed by exception torch": {fail(ddp(), raise, 1, hang), traceback},
		"failed by memory": {fail(gang("oom-1aa0", 2), run.Failure{
			What: "ran out of memory (8Gi, its resources.memory)", Class: run.Permanent, Why: "it would need the same memory again",
		}, 137, func(i *engine.Instance) {
			i.Cause, i.Signal, i.Detail = engine.ByOOM, "KILL", "8Gi, its resources.memory; cgroup oom_kill 1"
		}), nil},
		"failed by signal": {fail(ddp(), run.Failure{
			What: "was killed from outside (SIGKILL)", Class: run.Retryable, Why: "code 137 usually comes from outside",
		}, 137, func(i *engine.Instance) { i.Cause, i.Signal = engine.BySignal, "KILL" }), nil},
		"failed to start": {fail(gang("train-p7xq", 2), run.Failure{
			What: "could not be started: pyhton: not found in PATH", Class: run.Permanent, Why: "it would not start the next time either",
		}, 127, func(i *engine.Instance) { i.Cause, i.Code, i.Pid = engine.StartFailed, 127, 0 }), nil},
		"failed by limit": {failBy(gang("train-p7xq", 2), run.Failure{
			Kind: run.OfRunLimit, What: "the run took longer than limits.run, 2h", Class: run.Permanent, Why: "the limit is for all attempts together",
		}), nil},
		"failed by rendezvous": {failBy(gang("train-p7xq", 2), run.Failure{
			Kind: run.OfRendezvous, What: "worker-1 did not join the others within limits.rendezvous, 10m", Class: run.Retryable,
			Why: "it may go better the next time", Missing: []job.Task{worker},
		}), nil},
		"failed by stall": {failBy(stalled, run.Failure{
			Kind: run.OfStall, Task: &worker, Instance: &silent, Class: run.Retryable, Why: "it may go better the next time",
			What: "was silent longest (6m52s, cpu 0%), and no task wrote anything for limits.stall, 5m",
		}), nil},
		"failed after restarts": {fail(again(5), own, 3, exit), traceback},
		"failed with much to say": {fail(gang("train-p7xq", 40), run.Failure{
			What: "raised RuntimeError: " + strings.Repeat("shape mismatch in layer\n", 200), Class: run.Permanent, Why: "an exception in your code",
		}, 1, hang), slices.Repeat(traceback, 3)},
		"succeeded":                {end(gang("digits-k3f9", 2), run.Verdict{Phase: run.Succeeded, Headline: "both workers finished; server and scheduler ended after them"}), nil},
		"succeeded after restarts": {end(again(1), run.Verdict{Phase: run.Succeeded, Headline: "both workers finished"}), nil},
		"stopped":                  {end(gang("train-p7xq", 2), run.Verdict{Phase: run.Stopped, Headline: "stopped by Ctrl-C", Exit: run.Exit{Code: 130, By: "muster"}}), nil},
	}
}

func underWayCases() map[string]example {
	suspended := phase(gang("lm-c40v", 2), run.Suspended, "suspended by muster suspend")
	restarting := phase(gang("lm-c40v", 2), run.Restarting, "worker-1 exited with code 1")
	restarting.Restarts, restarting.Spec.Restart.Limit = 1, 3
	restarting.Progress.Ending = run.ToFail
	instance(&restarting, "worker-1").State = engine.Exited
	backoff := restarting
	backoff.Progress = run.Progress{Clock: 10 * time.Second, NotBefore: 15 * time.Second}
	backoff.Tasks = nil
	ending := phase(gang("lm-c40v", 2), run.Ending, "worker-1 exited with code 1")
	failed := *instance(&ending, "worker-1")
	ending.Progress.Failure = &run.Failure{Kind: run.OfTask, Task: &failed.Task, Instance: &failed}
	instance(&ending, "worker-1").State = engine.Exited
	alone := phase(gang("lm-c40v", 2), run.Running, "worker-1 exited with code 1; it is started again")
	starting := phase(gang("lm-c40v", 20), run.Starting, "")
	for n := range starting.Tasks {
		starting.Tasks[n].State = engine.Holding
	}
	return map[string]example{
		"pending":             {phase(run.Run{ID: "bert-2mzc", Created: begun.Add(-147 * time.Second)}, run.Pending, "1 of 2 GPUs free, it needs 2; in use by resnet-8d1a"), nil},
		"suspended":           {suspended, nil},
		"restarting ending":   {restarting, nil},
		"restarting waiting":  {backoff, nil},
		"ending a failure":    {ending, nil},
		"ending a success":    {phase(gang("lm-c40v", 2), run.Ending, ""), nil},
		"running fine":        {gang("lm-c40v", 2), nil},
		"one restarted alone": {alone, nil},
		"starting many":       {starting, nil},
		"unjoined":            {unjoinedRun(4, 2), nil},
		"unjoined many":       {unjoinedRun(40, 30), nil},
		"stuck":               {stuckRun("", 0), []Line{{engine.Stdout, "step 1840 loss 2.31"}}},
		"stuck with a limit":  {stuckRun("", job.Duration(10*time.Minute)), nil},
		"stuck alone":         {stuckRun("worker-1", 0), nil},
	}
}

// unjoinedRun is a gang that waits for the last of its workers.
func unjoinedRun(workers, late int) run.Run {
	r := gang("lm-c40v", workers)
	for n := workers - late; n < workers; n++ {
		instance(&r, fmt.Sprintf("worker-%d", n)).Joined = false
	}
	return r
}

// stuckRun is a gang in which all are silent, and one longest; with only, it is
// the only one left.
func stuckRun(only string, limit job.Duration) run.Run {
	r := gang("lm-c40v", 6)
	r.Spec.Limits.Stall = limit
	for n := range r.Tasks {
		r.Tasks[n].Usage = engine.Usage{Silent: 6*time.Minute + 40*time.Second, CPU: 1}
		if only != "" && r.Tasks[n].Task.String() != only {
			r.Tasks[n].State = engine.Exited
		}
	}
	instance(&r, "worker-1").Usage = engine.Usage{Silent: 6*time.Minute + 52*time.Second, CPU: 0.002}
	return r
}
