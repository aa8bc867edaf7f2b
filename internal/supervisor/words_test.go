package supervisor

import (
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
)

func TestDescribe(t *testing.T) {
	asked := func(d death) death {
		return func(i *engine.Instance) { d(i); i.Asked = true }
	}
	interrupt := func(i *engine.Instance) {
		i.Cause, i.Signal, i.Raised = engine.BySignal, "INT", &engine.Exception{Type: "KeyboardInterrupt"}
	}
	with := func(c engine.Cause, detail string) death {
		return func(i *engine.Instance) { i.Cause, i.Detail = c, detail }
	}
	taken := func(by string) death {
		return func(i *engine.Instance) {
			i.Task.Role, i.Cause, i.Taken = "worker", engine.StartFailed, &engine.TakenPort{Port: 80, By: by}
		}
	}
	for _, c := range []struct {
		want  string
		death death
	}{
		{"exited with code 3", exit(3)},
		{"could not be started: port 80 (roles.worker.ports) is in use by run web-1; end that, or use port 0 and $MUSTER_PORT", taken("run web-1")},
		{"could not be started: port 80 (roles.worker.ports) is in use by another program; end that, or use port 0 and $MUSTER_PORT", taken("")},
		{"exited with code 0", exit(0)},
		{"was killed from outside (SIGKILL)", signal("KILL")},
		{"was ended by a segmentation fault (SIGSEGV)", signal("SEGV")},
		{"was ended by a bus error (SIGBUS)", signal("BUS")},
		{"was ended by an illegal instruction (SIGILL)", signal("ILL")},
		{"was ended by an arithmetic error (SIGFPE)", signal("FPE")},
		{"was aborted (SIGABRT)", signal("ABRT")},
		{"was ended by a signal (SIGHUP)", signal("HUP")},
		{"was ended by a signal (signal 40)", signal("signal 40")},
		{"was ended (SIGTERM)", asked(signal("TERM"))},
		{"was ended (SIGKILL)", asked(signal("KILL"))},
		{"was ended by a segmentation fault (SIGSEGV)", asked(signal("SEGV"))},
		{"was ended (SIGINT)", asked(interrupt)},
		{"raised KeyboardInterrupt", interrupt},
		{"raised ValueError: bad label", raised(time.Second, false)},
		{"raised ValueError: bad label", asked(raised(time.Second, true))},
		{"was lost: its task host was killed", lost},
		{"was lost: its task host is gone", func(i *engine.Instance) { i.State = engine.Lost }},
		{"ran out of memory (8Gi, its resources.memory)", oom},
		{"ran out of memory", with(engine.ByOOM, "")},
		{"could not be started: no such file", with(engine.StartFailed, "no such file")},
		{"was ended: a health probe failed", with(engine.ByHealth, "a health probe failed")},
		{"wrote more than its logs.limit: 10M", with(engine.ByLogLimit, "10M")},
		{"was preempted", with(engine.ByPreempt, "")},
		{"was evicted (disk pressure)", with(engine.ByEvict, "disk pressure")},
	} {
		if got := Describe(ended(c.death)); got != c.want {
			t.Errorf("description is %q, want %q", got, c.want)
		}
	}
}
