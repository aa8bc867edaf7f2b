//go:build linux

package chaos

import (
	"os"
	"syscall"
	"testing"
	"time"

	"muster.dev/muster/internal/run"
)

// long says that the tests may take as long as people do.
func long() bool { return os.Getenv("MUSTER_CHAOS_LONG") != "" }

// TestEverythingStopped stops every process of a run for longer than its stall
// limit, as a laptop's sleep does: nobody may take that for silence.
func TestEverythingStopped(t *testing.T) {
	for _, c := range []struct {
		name      string
		isolation string
		detached  bool
	}{
		{"detached", "auto", true},
		{"attached", "auto", false},
		{"without a namespace", "none", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := plainPlan("frozen")
			p.Isolation, p.Detached, p.Rate, p.Pieces = c.isolation, c.detached, 10, 4
			r := &round{bed: testBed(t), plan: p, more: []string{"limits: {stall: 2s, run: 10m}"}}
			r.freeze = 6 * time.Second
			if long() {
				r.freeze = time.Minute
			}
			h := checkRound(t, r)
			if len(h.Reads) == 0 || h.Reads[0].Phase != run.Succeeded || h.Reads[0].Attempt != 1 {
				t.Errorf("want success in attempt 1\n%s", r.story())
			}
		})
	}
}

// standStill stops everything of the run for a while.
func (r *round) standStill() {
	if r.freeze == 0 {
		return
	}
	r.awaitRunning()
	all := append(r.bed.of(r.id, Task, Host, Keeper), r.targets(Owner)...)
	signalAll(all, syscall.SIGSTOP)
	<-time.After(r.freeze)
	signalAll(all, syscall.SIGCONT)
}
