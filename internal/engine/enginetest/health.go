//go:build linux

package enginetest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// ready waits until a task's probe has succeeded.
func (s *subject) ready(task string) {
	s.b.Helper()
	s.until("a task that is well", func(r run.Run) bool {
		return all(r, 1, running) && s.b.task(r, task).Ready
	})
}

func (s *subject) endsUnwell(words string) {
	s.b.Helper()
	r := s.end()
	s.b.want(r, run.Failed, run.ExitLimit, "muster")
	if i := s.b.wantFirst(r, "worker-0", words); i.Cause != engine.ByHealth || i.Ready || i.Asked {
		s.b.Errorf("%s", show(i))
	}
	if f := r.Verdict.First; f.Class != run.Retryable {
		s.b.Errorf("%s", f.Class)
	}
}

// unhealthy answers for the task, well at first.
func unhealthy(b *bench) {
	var ill atomic.Bool
	answers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if ill.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer answers.Close()
	spec := b.job("plain", sizes{"worker": 1}, "ignore=TERM", "forever")
	spec.Roles["worker"].Health = &job.Health{HTTP: answers.URL + "/healthz", Every: job.Duration(20 * time.Millisecond), Timeout: job.Duration(patience), Failures: 2}
	s := b.submit(spec)
	s.ready("worker-0")
	ill.Store(true)
	s.endsUnwell("was ended: 2 of its health probes in a row failed, the last with 503 Service Unavailable from " + answers.URL)
}

func unhealthyByCommand(b *bench) {
	b.touch("well")
	spec := b.job("plain", sizes{"worker": 1}, "forever")
	spec.Roles["worker"].Health = &job.Health{
		Command: []string{"sh", "-c", `cat well >/dev/null && exit 0; echo "$MUSTER_TASK is ill"; exit 4`},
		Every:   job.Duration(20 * time.Millisecond), Timeout: job.Duration(patience), Failures: 1,
	}
	s := b.submit(spec)
	s.ready("worker-0")
	if err := os.Remove(b.path("well")); err != nil {
		b.Fatal(err)
	}
	s.endsUnwell("was ended: a health probe failed with code 4 of sh: worker-0 is ill")
}
