//go:build linux

package container

import (
	"os"
	"syscall"
	"time"

	"muster.dev/muster/internal/taskhost/process"
)

// A probe is a command that runs beside the program and asks how it is.
type probe struct {
	number int
	out    *os.File
	limit  *time.Timer
	late   bool
}

// ask starts a probe; its end is its answer.
func (i *initial) ask(q Question) {
	fail := func(err error) { _ = i.tell.Encode(Message{Probed: &Answer{Number: q.Number, Failed: err.Error()}}) }
	out, err := process.Memory()
	if err != nil {
		fail(err)
		return
	}
	pid, err := i.start(process.Command{Argv: q.Argv, Env: os.Environ(), Stdout: out, Stderr: out})
	if err != nil {
		_ = out.Close()
		fail(err)
		return
	}
	i.probes[pid] = &probe{number: q.Number, out: out, limit: time.AfterFunc(q.Timeout, func() { i.overdue <- pid })}
}

// expire ends a probe that takes too long.
func (i *initial) expire(pid int) {
	if p := i.probes[pid]; p != nil {
		p.late = true
		process.Kill(syscall.SIGKILL, append(process.Descendants(pid), pid)...)
	}
}

// answer tells how a probe ended, if that is what it was.
func (i *initial) answer(x process.Exit) {
	p := i.probes[x.Pid]
	if p == nil {
		return
	}
	delete(i.probes, x.Pid)
	p.limit.Stop()
	said := process.Take(p.out)
	const most = 1 << 10
	_ = i.tell.Encode(Message{Probed: &Answer{Number: p.number, Status: x.Status, Late: p.late, Said: said[max(0, len(said)-most):]}})
}
