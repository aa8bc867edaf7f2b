//go:build linux

package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster.dev/muster/internal/run"
)

// A member is a job of a group. Needs end with ? where any end will do.
type member struct {
	name  string
	needs []string
	fails bool
	plan  Plan
}

// A groupRound is one group and what happens to the owners of its runs.
type groupRound struct {
	bed    *bed
	jobs   []member
	waits  []time.Duration // before each kill
	client bool            // the first kill is of muster run
	rng    *rand.Rand      // who is killed

	cmd    *exec.Cmd
	done   chan struct{}
	said   bytes.Buffer // read after done
	killed bool         // muster run was
	acts   map[string][]Act
}

// TestGroups runs groups and kills the owners of their runs: no job starts
// before what it needs has ended as it must, all end, and the verdict is the
// one that what the jobs do asks for.
func TestGroups(t *testing.T) {
	dir := t.TempDir()
	eachRound(t, 50, 3, func(seed, n uint64) string {
		rng := rand.New(rand.NewPCG(seed, n))
		b, err := newBed(filepath.Join(dir, fmt.Sprintf("g%d", n)), 0)
		if err != nil {
			return err.Error()
		}
		defer func() {
			b.end()
			_ = b.close()
		}()
		g := randomGroup(rng)
		g.bed = b
		wrong, err := g.run()
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		if len(wrong) > 0 {
			wrong = append(wrong, fmt.Sprintf("jobs %+v\nacts %+v", g.jobs, g.acts))
		}
		return strings.Join(wrong, "\n")
	})
}

func randomGroup(rng *rand.Rand) *groupRound {
	g := &groupRound{rng: rng, client: rng.IntN(3) == 0, acts: map[string][]Act{}, jobs: []member{
		{name: "data"}, {name: "sgd", needs: []string{"data"}, fails: rng.IntN(3) == 0}, {name: "adam", needs: []string{"data"}},
		{name: "deploy", needs: []string{"sgd", "adam"}}, {name: "report", needs: []string{"sgd?", "adam?"}},
	}}
	for i := range g.jobs {
		m := &g.jobs[i]
		m.plan = Plan{
			Name: "night-" + m.name, Framework: "plain", Workers: 1 + rng.IntN(2), Detached: true, Fails: m.fails,
			Isolation: pick(rng, "auto", "auto", "none"), Pieces: 2, Lines: 1 + rng.IntN(4), Rate: 40 + rng.IntN(60),
		}
	}
	for range 2 + rng.IntN(6) {
		g.waits = append(g.waits, time.Duration(rng.IntN(250))*time.Millisecond)
	}
	return g
}

// write makes the group's file.
func (g *groupRound) write() (string, error) {
	text := "name: night\njobs:\n"
	for _, m := range g.jobs {
		command, err := json.Marshal(m.plan.steps(g.bed))
		if err != nil {
			return "", err
		}
		needs := map[string]string{}
		for _, n := range m.needs {
			name, whatever := strings.CutSuffix(n, "?")
			if needs[name] = "success"; whatever {
				needs[name] = "done"
			}
		}
		how, err := json.Marshal(needs)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("  %s: {needs: %s, framework: plain, workers: %d, restart: {limit: 0}, stop: {grace: 400ms}, isolation: %s, command: %s}\n",
			m.name, how, m.plan.Workers, m.plan.Isolation, command)
	}
	path := filepath.Join(g.bed.dir, "night.yaml")
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// run carries the round out and returns what is wrong.
func (g *groupRound) run() ([]string, error) {
	path, err := g.write()
	if err != nil {
		return nil, err
	}
	g.cmd = g.bed.command(context.Background(), "run", "-f", path)
	g.cmd.Stdout, g.cmd.Stderr = &g.said, &g.said
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	g.done = make(chan struct{})
	go func() { _ = g.cmd.Wait(); close(g.done) }() // its code is looked at below
	if err := g.awaitStored(); err != nil {
		return nil, err
	}
	g.kill()
	if err := g.awaitEnd(); err != nil {
		return nil, err
	}
	if err := g.waitForEach(); err != nil {
		return nil, err
	}
	wrong, err := g.check()
	if len(wrong) > 0 {
		wrong = append(wrong, "muster run said: "+g.said.String())
	}
	return wrong, err
}

// awaitStored waits until the runs are in the store, into which they come
// together.
func (g *groupRound) awaitStored() error {
	return await("the group is stored", patience, func() (bool, error) {
		ended := false // before we look
		select {
		case <-g.done:
			ended = true
		default:
		}
		_, ok, err := g.bed.read(g.jobs[0].plan.Name)
		if ended && !ok && err == nil {
			err = fmt.Errorf("muster run: %s", g.said.String())
		}
		return ok, err
	})
}

// kill kills one owner after the other, each of some run that has one then.
func (g *groupRound) kill() {
	if g.client {
		g.killed = g.cmd.Process.Signal(syscall.SIGKILL) == nil
	}
	for _, wait := range g.waits {
		<-time.After(wait)
		for _, i := range g.rng.Perm(len(g.jobs)) {
			name := g.jobs[i].plan.Name
			r, _, _ := g.bed.read(name)
			if signalAll(g.bed.of(r.ID, Owner), syscall.SIGKILL) {
				g.acts[name] = append(g.acts[name], Act{Target: Owner, At: time.Now(), Hit: true})
				break
			}
		}
	}
}

// awaitEnd waits for muster run, which ends by itself whoever else dies.
func (g *groupRound) awaitEnd() error {
	select {
	case <-g.done:
		return nil
	case <-time.After(patience):
		return errors.New("muster run does not end")
	}
}

// waitForEach waits for all runs, in an order that does not matter.
func (g *groupRound) waitForEach() error {
	for _, i := range g.rng.Perm(len(g.jobs)) {
		if _, _, err := g.bed.muster("wait", g.jobs[i].plan.Name); err != nil {
			return err
		}
	}
	return nil
}

// check returns every promise that was broken.
func (g *groupRound) check() (wrong []string, err error) {
	runs := map[string]run.Run{}
	var list []run.Run
	for _, m := range g.jobs {
		r, ok, err := g.bed.read(m.plan.Name)
		if err != nil || !ok {
			return []string{"there is no record of " + m.name}, err
		}
		runs[m.name] = r
		list = append(list, r)
	}
	for _, m := range g.jobs {
		one, err := g.checkOne(m, runs)
		if err != nil {
			return nil, err
		}
		for _, w := range one {
			wrong = append(wrong, m.name+": "+w)
		}
	}
	want, code := run.Succeeded, 0
	if slices.ContainsFunc(g.jobs, func(m member) bool { return m.fails }) {
		want, code = run.Failed, 3
	}
	if phase, why, exit := run.Fold(list); phase != want || exit.Code != code {
		wrong = append(wrong, fmt.Sprintf("the verdict is %s with %d, want %s with %d: %s", phase, exit.Code, want, code, why))
	}
	if got := g.cmd.ProcessState.ExitCode(); !g.killed && got != code {
		wrong = append(wrong, fmt.Sprintf("muster run gave %d, want %d", got, code))
	}
	return wrong, nil
}

// checkOne checks a job by itself, as any other run, and against its needs.
func (g *groupRound) checkOne(m member, runs map[string]run.Run) ([]string, error) {
	mine := runs[m.name]
	events, err := g.bed.events(m.plan.Name)
	if err != nil {
		return nil, err
	}
	for _, n := range m.needs {
		name, whatever := strings.CutSuffix(n, "?")
		need := runs[name]
		if need.Phase != run.Succeeded && !whatever {
			if !mine.Skipped() || len(events) > 0 {
				return []string{fmt.Sprintf("it is %s with %d events, and %s is %s", mine.Phase, len(events), name, need.Phase)}, nil
			}
			return nil, nil
		}
		for _, e := range events {
			if !e.Time.After(need.Ended) {
				return []string{fmt.Sprintf("%s at %s, and %s ended at %s", e.Event, clock(e.Time), name, clock(need.Ended))}, nil
			}
		}
	}
	r := &round{bed: g.bed, plan: m.plan, cmd: g.cmd, hist: History{Plan: m.plan, Acknowledged: true, Acts: g.acts[m.plan.Name]}}
	if err := r.collect(); err != nil {
		return nil, err
	}
	wrong := Check(r.hist)
	if len(wrong) > 0 {
		wrong = append(wrong, r.story())
	}
	return wrong, nil
}
