//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster.dev/muster/internal/crash"
)

// The rounds that are run when nobody says otherwise take about three minutes
// on two cores.
const (
	defaultRounds = 300
	together      = 4 // rounds at a time
	plainUser     = 65534
	enough        = 5 // failed rounds, after which the others are not run
)

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		t.Fatalf("%s=%s: want a number", name, v)
	}
	return n
}

// TestRounds runs jobs and kills what belongs to them at random moments.
func TestRounds(t *testing.T) {
	dir := t.TempDir()
	if err := openUp(dir); err != nil {
		t.Fatal(err)
	}
	shared, err := newBed(filepath.Join(dir, "shared"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		shared.end()
		_ = shared.close()
	}()
	eachRound(t, 1, together, func(seed, n uint64) string { return oneRound(dir, shared, seed, n) })
}

// eachRound carries out one in so many of the rounds that were asked for, a few
// at a time. do returns what is wrong.
func eachRound(t *testing.T, oneIn uint64, atATime int, do func(seed, n uint64) string) {
	t.Helper()
	seed := number(t, "MUSTER_CHAOS_SEED", uint64(time.Now().UnixNano()))
	from, to := uint64(0), number(t, "MUSTER_CHAOS_ROUNDS", defaultRounds)
	if testing.Short() {
		to = min(to, 20)
	}
	to = (to + oneIn - 1) / oneIn
	if one := number(t, "MUSTER_CHAOS_ROUND", to); one != to {
		from, to = one, one+1
	}
	t.Logf("MUSTER_CHAOS_SEED=%d repeats this", seed)
	var next atomic.Uint64
	var failed atomic.Int64
	var all sync.WaitGroup
	next.Store(from)
	for range atATime {
		all.Go(func() {
			for n := next.Add(1) - 1; n < to && failed.Load() < enough; n = next.Add(1) - 1 {
				if text := do(seed, n); text != "" {
					failed.Add(1)
					t.Errorf("MUSTER_CHAOS_SEED=%d MUSTER_CHAOS_ROUND=%d -run %s:\n%s", seed, n, t.Name(), text)
				}
			}
		})
	}
	all.Wait()
}

// openUp lets other users pass through the folders of tests, which are ours.
func openUp(dir string) error {
	for d := dir; d != filepath.Dir(d) && d != filepath.Clean(os.TempDir()); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// oneRound carries out round n of a seed and returns what is wrong.
func oneRound(dir string, shared *bed, seed, n uint64) string {
	rng := rand.New(rand.NewPCG(seed, n))
	r := randomRound(rng, fmt.Sprintf("c%d", n))
	r.bed = shared
	r.fired = filepath.Join(shared.dir, r.plan.Name+".fired")
	if rng.IntN(3) > 0 {
		b, err := ownBed(filepath.Join(dir, r.plan.Name), rng)
		if err != nil {
			return err.Error()
		}
		defer b.close()
		r.bed, r.fired = b, filepath.Join(b.dir, r.plan.Name+".fired")
	}
	h, err := r.run()
	var wrong []string
	if err != nil {
		wrong = append(wrong, err.Error())
	} else {
		wrong = Check(h)
	}
	if len(wrong) == 0 && len(h.Reads) > 0 {
		wrong = r.remove()
	}
	if len(wrong) > 0 {
		text := strings.Join(wrong, "\n") + "\n" + r.story()
		if r.bed != shared {
			r.bed.end()
		}
		return text
	}
	if r.bed != shared {
		_ = os.RemoveAll(r.bed.dir)
	}
	return ""
}

// remove deletes the run, of which then nothing is left.
func (r *round) remove() []string {
	code, out, err := r.bed.muster("rm", r.id)
	if err != nil || code != 0 {
		return []string{fmt.Sprintf("muster rm: exit %d, %v: %s", code, err, out)}
	}
	if exists(r.bed.runDir(r.id)) {
		return []string{"muster rm left the folder"}
	}
	return nil
}

// ownBed is a state directory for one round: sometimes another user's,
// sometimes with a path that is too long for a socket.
func ownBed(dir string, rng *rand.Rand) (*bed, error) {
	user := 0
	if rng.IntN(4) == 0 && os.Geteuid() == 0 {
		user = plainUser
	}
	if rng.IntN(4) == 0 {
		dir = filepath.Join(dir, strings.Repeat("long", 30))
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	return newBed(dir, user)
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// randomRound makes up a job and what happens to it.
func randomRound(rng *rand.Rand, name string) *round {
	p := Plan{
		Name: name, Framework: "plain", Workers: 3 + rng.IntN(4), Budget: rng.IntN(3), Detached: rng.IntN(3) > 0,
		Isolation: pick(rng, "auto", "auto", "none"), Pieces: 2 + rng.IntN(3), Lines: 1 + rng.IntN(6), Rate: 40 + rng.IntN(60),
		Fails: rng.IntN(5) == 0, Memory: rng.IntN(4) == 0,
	}
	if rng.IntN(3) == 0 {
		p.Framework, p.Workers, p.Servers = "mxnet", 2+rng.IntN(2), 1
	}
	if rng.IntN(3) == 0 {
		p.Leaves = pick(rng, "fork", "setsid", "daemon")
	}
	if p.Leaves == "daemon" && p.Isolation == "none" {
		p.Leaves = "setsid" // without a namespace only what can be recognised can be found
	}
	r := &round{plan: p, meddles: rng.IntN(5) == 0}
	if rng.IntN(4) == 0 {
		r.point = fmt.Sprintf("%s*%d", pick(rng, crash.Points...), 1+rng.IntN(7))
		r.crasher = victim(r.point, p)
		return r
	}
	at := time.Duration(0)
	for range 1 + rng.IntN(3) {
		at += time.Duration(rng.IntN(300)) * time.Millisecond / 2
		target := pick(rng, Owner, Owner, Keeper, Host, Task)
		if p.Detached && rng.IntN(6) == 0 {
			target = Client
		}
		if rng.IntN(8) == 0 {
			target = Stop
		}
		r.kills = append(r.kills, kill{target: target, after: at})
	}
	return r
}

// victim says which process dies at a crash point.
func victim(point string, p Plan) Target {
	part, rest, _ := strings.Cut(point, ".")
	switch {
	case part == "keeper":
		return Keeper
	case part == "submit" && p.Detached:
		return Client
	case strings.HasPrefix(rest, "forked"):
		if p.Detached && p.Isolation == "auto" {
			return Keeper // it starts the host
		}
		return Owner
	case part == "host":
		return Host
	}
	return Owner
}
