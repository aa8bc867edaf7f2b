//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// sleepers is what the gang of a kill does.
var sleepers = []string{"/bin/sleep", "600"}

func measureKill(b *bench) error {
	const bare, ours, mpi = "shell, kill -9 all 7 & wait", "muster run, kill -9 worker-2", "mpirun -n 7, kill -9 one rank"
	results, err := race(b.rounds(20), []contender{
		{name: bare, once: killBare},
		{name: ours, once: b.killWorker},
		{name: mpi, once: killRank, peer: true, every: 5},
	})
	if err != nil {
		return err
	}
	r := b.report
	floor := r.addResult(bare, "ms", results[bare], 0, nil)
	r.addResult(ours+", to its verdict and exit", "ms", results[ours], 0, floor, atMost(100, "ms"))
	r.addResult(ours+", until no process is left", "ms", results[ours], 1, floor, atMost(100, "ms"))
	r.add(ours+", the slower of both, worst round", "ms", worst(results[ours]), floor, atMost(100, "ms"))
	r.addResult(mpi+", to its exit", "ms", results[mpi], 0, floor)
	if f := r.addResult(mpi+", until no process is left", "ms", results[mpi], 1, floor); f != nil {
		r.add(ours+", until no process is left", "ms", results[ours].of(1), f)
	}
	return nil
}

func worst(r result) Samples {
	if len(r.of(0)) == 0 {
		return nil
	}
	return Samples{max(slices.Max(r.of(0)), slices.Max(r.of(1)))}
}

// A victim is a job whose processes all sleep.
type victim struct {
	cmd       *exec.Cmd
	out, errs bytes.Buffer
	tasks     []int
	all       handles // of everything below cmd
}

// startVictim starts a job and waits until all of its gang sleep.
func startVictim(c *exec.Cmd) (*victim, error) {
	v := &victim{cmd: c}
	c.Stdout, c.Stderr = &v.out, &v.errs
	if err := c.Start(); err != nil {
		return nil, err
	}
	err := await("all seven sleep", func() bool {
		v.tasks = named("sleep", descendants(c.Process.Pid))
		return len(v.tasks) == gang
	})
	if err == nil {
		v.all, err = open(descendants(c.Process.Pid))
	}
	if err != nil {
		_ = c.Process.Kill()
		return nil, errors.Join(err, c.Wait(), errors.New(lastLines(v.errs.String(), 6)))
	}
	return v, nil
}

// end waits for the end of all, and says when the command was over and when
// the last process was, counted from began.
func (v *victim) end(began time.Time) ([]float64, error) {
	defer v.all.close()
	gone := make(chan time.Time, 1)
	wrong := make(chan error, 1)
	go func() {
		wrong <- v.all.awaitGone(30 * time.Second)
		gone <- time.Now()
	}()
	_ = v.cmd.Wait() // its code is looked at by who knows what it should be
	exit := time.Now()
	if err := <-wrong; err != nil {
		return nil, err
	}
	last := <-gone
	if exit.After(last) {
		last = exit // itself a process of the job
	}
	return []float64{ms(exit.Sub(began)), ms(last.Sub(began))}, nil
}

func killBare() ([]float64, error) {
	v, err := startVictim(bareShell(gang, strings.Join(sleepers, " ")))
	if err != nil {
		return nil, err
	}
	began := time.Now()
	for _, pid := range v.tasks {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return v.end(began)
}

func killRank() ([]float64, error) {
	v, err := startVictim(exec.Command("mpirun", append(mpirunFlags, sleepers...)...))
	if err != nil {
		return nil, err
	}
	began := time.Now()
	_ = syscall.Kill(v.tasks[gang/2], syscall.SIGKILL)
	return v.end(began)
}

func (b *bench) killWorker() ([]float64, error) {
	v, err := startVictim(b.command("kill", append([]string{"run", "-n", "4", "-s", "2", "--"}, sleepers...)...))
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(v.tasks, func(pid int) bool { return hasEnv(pid, "MUSTER_TASK=worker-2") })
	if at < 0 {
		return nil, fmt.Errorf("none of the tasks is worker-2: %w", errWrong)
	}
	began := time.Now()
	_ = syscall.Kill(v.tasks[at], syscall.SIGKILL)
	times, err := v.end(began)
	if err != nil {
		return nil, err
	}
	text := v.errs.String()
	if code := v.cmd.ProcessState.ExitCode(); code != 137 || !strings.Contains(text, "worker-2 was killed") {
		return nil, fmt.Errorf("exit code %d and the verdict\n%s\n%w", code, lastLines(text, 8), errWrong)
	}
	id, _, _ := strings.Cut(text, " ")
	if left := withEnv("MUSTER_RUN=" + id); len(left) > 0 {
		return nil, fmt.Errorf("processes %v of %s are left: %w", left, id, errWrong)
	}
	return times, nil
}
