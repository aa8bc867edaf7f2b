//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestQueue submits more runs than there are GPUs, each from a process of its
// own, and kills what belongs to them: no GPU is ever given to two, every run
// ends, and all GPUs are free then.
func TestQueue(t *testing.T) {
	dir := t.TempDir()
	eachRound(t, 50, 3, func(seed, n uint64) string {
		rng := rand.New(rand.NewPCG(seed, n))
		b, err := newBed(filepath.Join(dir, fmt.Sprintf("q%d", n)), 0)
		if err != nil {
			return err.Error()
		}
		b.env = []string{"MUSTER_GPUS=0,1"}
		defer func() {
			b.end()
			_ = b.close()
		}()
		return strings.Join(queueRound(b, rng), "\n")
	})
}

// queueRound returns what is wrong with runs that want the same two GPUs.
func queueRound(b *bed, rng *rand.Rand) []string {
	wrong := make([][]string, 6+rng.IntN(5))
	var all sync.WaitGroup
	for i := range wrong {
		r := randomWaiter(rng, fmt.Sprintf("w%d", i))
		r.bed = b
		all.Go(func() {
			h, err := r.run()
			if err != nil {
				wrong[i] = []string{err.Error()}
			} else {
				wrong[i] = Check(h)
			}
			if len(wrong[i]) > 0 {
				wrong[i] = append(wrong[i], r.story())
			}
		})
	}
	all.Wait()
	var found []string
	for _, w := range wrong {
		found = append(found, w...)
	}
	if text, err := os.ReadFile(filepath.Join(b.dir, "conflicts")); err == nil {
		found = append(found, string(text))
	}
	return append(found, allFree(b)...)
}

// randomWaiter makes up a run of one task with one GPU, and what happens to it:
// at some moment while all are in the queue, or once it has had its turn.
func randomWaiter(rng *rand.Rand, name string) *round {
	p := Plan{
		Name: name, Framework: "plain", Workers: 1, Detached: true, GPU: true,
		Isolation: pick(rng, "auto", "auto", "none"), Pieces: 2, Lines: 1 + rng.IntN(6), Rate: 40 + rng.IntN(60),
	}
	r := &round{plan: p, meddles: rng.IntN(8) == 0}
	after := time.Duration(0)
	for range rng.IntN(4) {
		k := kill{target: pick(rng, Owner, Owner, Owner, Keeper, Host, Client), running: rng.IntN(2) == 0}
		if k.target == Client || rng.IntN(10) == 0 {
			k.running = false
		}
		if !k.running && rng.IntN(8) == 0 {
			k.target = Stop
		}
		if !k.running && k.target != Client {
			after += time.Duration(rng.IntN(800)) * time.Millisecond
		}
		k.after = after
		r.kills = append(r.kills, k)
		if k.target == Stop {
			break // it may never have its turn, for which another kill would wait
		}
	}
	return r
}

// allFree says what is wrong when a run that wants all GPUs does not get them
// at once.
func allFree(b *bed) []string {
	code, out, err := b.muster("run", "-d", "--name", "last", "--gpus", "2", "--", "/bin/true")
	if err != nil || code != 0 {
		return []string{fmt.Sprintf("the last run: exit %d, %v: %s", code, err, out)}
	}
	r, _, err := b.read("last")
	if err != nil || r.Grant == nil || len(r.Grant.GPUs["worker-0"]) != 2 {
		return []string{fmt.Sprintf("not all GPUs are free at the end: %s %s %v", r.Phase, r.Reason, err)}
	}
	if code, out, err := b.muster("wait", r.ID); err != nil || code != 0 {
		return []string{fmt.Sprintf("wait for the last run: exit %d, %v: %s", code, err, out)}
	}
	return nil
}
