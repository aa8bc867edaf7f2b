//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Seven processes: 1 scheduler, 2 servers, 4 workers.
const gang = 7

// bareShell starts n times the same command and waits for all.
func bareShell(n int, command string) *exec.Cmd {
	return exec.Command("/bin/sh", "-c", strings.Repeat(command+" & ", n)+"wait")
}

// toItsEnd measures a command until it has exited and nothing that it started
// holds its output any more: some launchers do not wait for all they start.
func toItsEnd(make func() *exec.Cmd) func() ([]float64, error) {
	return func() ([]float64, error) {
		return timed(func() error { _, err := finish(make()); return err })
	}
}

func measureStart(b *bench) error {
	contenders := []contender{
		{name: "shell, 7 x true & wait", once: toItsEnd(func() *exec.Cmd { return bareShell(gang, "/bin/true") })},
		{name: "muster run", once: toItsEnd(func() *exec.Cmd {
			return b.command("start", "run", "-n", "4", "-s", "2", "--", "/bin/true")
		})},
		{name: "muster run --isolation none", once: toItsEnd(func() *exec.Cmd {
			return b.command("start", "run", "--isolation", "none", "-n", "4", "-s", "2", "--", "/bin/true")
		})},
	}
	peers := peers(b)
	results, err := race(b.rounds(25), append(contenders, peers...))
	if err != nil {
		return err
	}
	r := b.report
	shell := r.addResult(contenders[0].name, "ms", results[contenders[0].name], 0, nil)
	ours := r.addResult("muster run", "ms", results["muster run"], 0, shell, atMost(20, "ms"))
	r.addResult(contenders[2].name, "ms", results[contenders[2].name], 0, shell)
	for _, p := range peers {
		f := r.addResult(p.name, "ms", results[p.name], 0, shell)
		if f == nil {
			continue
		}
		var goal []target
		if p.name == mpirunName {
			goal = append(goal, ratioAtMost(0.5))
		}
		r.add("muster run", "ms", results["muster run"].of(0), f, goal...)
	}
	return measureSyncs(b, ours)
}

// measureSyncs makes every fsync 5 ms longer. Only a tracer can do that to a
// static binary, so the tracer's own cost is measured beside it.
func measureSyncs(b *bench, ours *figure) error {
	if _, err := exec.LookPath("strace"); err != nil {
		b.report.absent("muster run, 5 ms per fsync", "strace is not installed")
		return nil
	}
	trace := b.path("fsyncs")
	traced := func(extra ...string) func() ([]float64, error) {
		args := append([]string{"-f", "-qq", "--seccomp-bpf", "-e", "trace=fsync,fdatasync", "-o", trace}, extra...)
		args = append(args, b.muster, "run", "-n", "4", "-s", "2", "--", "/bin/true")
		return func() ([]float64, error) {
			wall, err := timed(func() error {
				c := exec.Command("strace", args...)
				c.Env, c.Dir = append(os.Environ(), "MUSTER_STATE_DIR="+b.path("start")), b.dir
				_, err := finish(c)
				return err
			})
			if err != nil {
				return nil, err
			}
			text, err := os.ReadFile(trace)
			return append(wall, float64(strings.Count(string(text), "sync("))), err
		}
	}
	const plain, slow = "muster run under strace", "muster run under strace, 5 ms per fsync"
	results, err := race(b.rounds(15), []contender{
		{name: plain, once: traced()},
		{name: slow, once: traced("-e", "inject=fsync,fdatasync:delay_enter=5000")},
	})
	if err != nil {
		return err
	}
	r := b.report
	base := r.addResult(plain, "ms", results[plain], 0, ours)
	late := r.addResult(slow, "ms", results[slow], 0, base)
	r.add("muster run, 5 ms per fsync, tracer taken off", "ms", Samples{ours.Median + late.Median - base.Median}, ours)
	r.addResult("fsyncs of a run", "", results[slow], 1, nil, neverOver(3, "fsyncs"))
	return nil
}

const mpirunName = "mpirun -n 7"

// peers are the other ways to start such a job, as far as they work here.
func peers(b *bench) []contender {
	return []contender{
		{name: mpirunName, peer: true, once: toItsEnd(func() *exec.Cmd {
			return exec.Command("mpirun", append(mpirunFlags, "/bin/true")...)
		})},
		{name: "MXNet's launch.py -n 4 -s 2", peer: true, once: launchPy(b)},
		{name: "torchrun, 7 processes", peer: true, every: 8, once: torchrun()},
		{name: "torchrun --monitor_interval 0.1", peer: true, every: 8, once: torchrun("--monitor_interval", "0.1")},
	}
}

// mpirunFlags let it start seven processes on few cores, also for root.
var mpirunFlags = []string{"-n", fmt.Sprint(gang), "--oversubscribe", "--allow-run-as-root"}

func torchrun(extra ...string) func() ([]float64, error) {
	// Debian's torch 1.13 on Python 3.11 needs -r 1 -t 1.
	args := append([]string{"--nproc_per_node", fmt.Sprint(gang), "-r", "1", "-t", "1"}, extra...)
	return toItsEnd(func() *exec.Cmd { return exec.Command("torchrun", append(args, "--no_python", "/bin/true")...) })
}
