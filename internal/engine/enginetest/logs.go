//go:build linux

package enginetest

import (
	"fmt"
	"os/exec"
	"strings"

	"muster.dev/muster/internal/run"
)

// Of each of 8 tasks: enough that its output is read while it is written.
const (
	loudTasks = 8
	loudOut   = "2M"
	loudErr   = "600K"
)

func logsUnderLoad(b *bench) {
	s := b.submit(b.job("plain", sizes{"worker": loudTasks}, "bytes="+loudOut, "errbytes="+loudErr,
		"print=pause", "sleep=100ms", "bytes="+loudOut+",$MUSTER_TASK-again"))
	followed := map[string]*strings.Builder{}
	err := b.plane.Logs(b.Context(), s.id, run.LogQuery{Tail: -1, Follow: true}, func(c run.LogChunk) error {
		key := c.Instance.Task.String() + " " + string(c.Stream)
		if followed[key] == nil {
			followed[key] = &strings.Builder{}
		}
		followed[key].Write(c.Data)
		if c.Data[len(c.Data)-1] != '\n' {
			b.Errorf("%s: a line is torn at %d", key, followed[key].Len())
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	b.want(s.end(), run.Succeeded, 0, "task")
	again := s.logs()
	for i := range loudTasks {
		task := fmt.Sprintf("worker-%d", i)
		out := b.written("bytes="+loudOut+","+task) + "pause\n" + b.written("bytes="+loudOut+","+task+"-again")
		for key, want := range map[string]string{task + " stdout": out, task + " stderr": b.written("bytes=" + loudErr + "," + task)} {
			if got := followed[key]; got == nil || got.String() != want {
				b.Errorf("%s: what was followed is not what was written", key)
			}
			if again[key] != want {
				b.Errorf("%s: what was read again (%d bytes) is not what was written (%d)", key, len(again[key]), len(want))
			}
		}
	}
}

// written is what the fake trainer writes for a step, anywhere.
func (b *bench) written(step string) string {
	b.Helper()
	out, err := exec.Command(Binary("trainer"), step).Output()
	if err != nil {
		b.Fatal(err)
	}
	return string(out)
}

func lastLine(b *bench) {
	s := b.submit(b.job("plain", sizes{"worker": 1}, "print=one", "partial=two"))
	followed := s.logsOf(run.LogQuery{Tail: -1, Follow: true})
	s.end()
	for _, got := range []map[string]string{followed, s.logs()} {
		if got["worker-0 stdout"] != "one\ntwo" {
			b.Errorf("%q", got)
		}
	}
}

// manyTasks has 200 that are all alive at one time: none ends before all have
// begun.
func manyTasks(b *bench) {
	const n = 200
	s := b.submit(b.job("plain", sizes{"worker": n}, "record="+b.path("starts"), "wait="+b.path("go"), "print=done"))
	b.await("all starts", func() bool { return b.lines("starts", `"start"`) == n })
	b.touch("go")
	r := s.end()
	b.want(r, run.Succeeded, 0, "task")
	if len(r.Tasks) != n || len(s.logs()) != n {
		b.Errorf("%d tasks, %d outputs", len(r.Tasks), len(s.logs()))
	}
}
