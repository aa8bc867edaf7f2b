//go:build linux

package taskhost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/taskhost/container"
	"muster.dev/muster/internal/taskhost/process"
)

// A patient is a task that is asked whether it is well.
type patient struct {
	next   time.Duration // of the sampler's clock: the next probe
	asked  bool          // one is under way
	failed int           // in a row
	number int           // of the last question to a container
	pid    int           // of the command that asks now; 0 for none
	ended  string        // why it was given up
}

// probe asks a task how it is, when it is time to. The first time only sets
// the time: a task is not asked before its delay.
func (h *host) probe(t *task) {
	health := t.launch.Health
	if health == nil || t.seen.State != engine.Running || t.health.asked {
		return
	}
	if t.health.next == 0 {
		t.health.next = h.sampler.clock + health.Delay
	}
	if h.sampler.clock < t.health.next {
		return
	}
	t.health.asked, t.health.next = true, h.sampler.clock+health.Every
	switch {
	case health.Command != nil && t.box != nil:
		h.probeInBox(t)
		return
	case health.Command != nil:
		h.probeByCommand(t)
		return
	}
	go func() {
		err := probeByNetwork(health)
		h.events <- func(h *host) { h.probed(t, err) }
	}()
}

// probed takes in an answer; nil is a good one.
func (h *host) probed(t *task, err error) {
	p := &t.health
	p.asked = false
	if t.pid == 0 || t.ended != nil || t.seen.State != engine.Running {
		return // too late to matter
	}
	if t.seen.Ready != (err == nil) {
		t.seen.Ready = err == nil
		h.mark(t)
	}
	if err == nil {
		p.failed = 0
		return
	}
	if p.failed++; p.failed >= t.launch.Health.Failures && p.ended == "" {
		p.ended = fmt.Sprintf("%d of its health probes in a row failed, the last with %s", p.failed, err)
		if p.failed == 1 {
			p.ended = "a health probe failed with " + err.Error()
		}
		h.kill(t)
	}
}

func probeByNetwork(p *engine.Health) error {
	ctx, cancel := context.WithTimeout(context.Background(), p.Timeout)
	defer cancel()
	if p.TCP != "" {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.TCP)
		if err == nil {
			_ = conn.Close()
		}
		return brief(err, p)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.HTTP, nil)
	if err != nil {
		return err
	}
	// Each probe by its own connection, to the task and nobody in between.
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return brief(err, p)
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s from %s", resp.Status, p.HTTP)
	}
	return nil
}

// brief is what people want to know of an error of the network.
func brief(err error, p *engine.Health) error {
	var no syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return fmt.Errorf("no answer from %s within %s", p.HTTP+p.TCP, p.Timeout)
	case errors.As(err, &no):
		return fmt.Errorf("%s: %w", p.HTTP+p.TCP, no)
	}
	return fmt.Errorf("%s: %w", p.HTTP+p.TCP, err)
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// probeByCommand runs a program as the task sees the world: its answer is its
// exit code. What it writes is no output of the task.
func (h *host) probeByCommand(t *task) {
	p := t.launch.Health
	out, err := process.Memory()
	if err != nil {
		h.probed(t, err)
		return
	}
	pid, err := h.spawner.Start(process.Command{
		Argv: p.Command, Env: t.launch.Env, Dir: t.launch.Dir, Stdout: out, Stderr: out,
	})
	if err != nil {
		_ = out.Close()
		h.probed(t, err)
		return
	}
	h.reaper.Forked()
	t.health.pid = pid
	late := false
	limit := time.AfterFunc(p.Timeout, func() {
		h.events <- func(h *host) {
			if h.asides[pid] != nil {
				late = true
				t.health.leave()
			}
		}
	})
	h.asides[pid] = func(x process.Exit) {
		limit.Stop()
		t.health.pid = 0
		h.probed(t, answerOf(p, container.Answer{Status: x.Status, Late: late, Said: process.Take(out)}))
	}
}

// probeInBox has the container's first process run the program there.
func (h *host) probeInBox(t *task) {
	p, b := t.launch.Health, t.box
	t.health.number++
	number := t.health.number
	if b.conn == nil {
		h.probed(t, errors.New("its container does not answer"))
		return
	}
	b.tell(container.Message{Probe: &container.Question{Number: number, Argv: p.Command, Timeout: p.Timeout}})
	// It sees to the time itself, unless it cannot even do that.
	time.AfterFunc(p.Timeout+lateEnd, func() {
		h.events <- func(h *host) { h.answered(t, container.Answer{Number: number, Late: true}) }
	})
}

// answered takes the answer to the question that was asked last.
func (h *host) answered(t *task, a container.Answer) {
	if t.health.asked && a.Number == t.health.number {
		h.probed(t, answerOf(t.launch.Health, a))
	}
}

// answerOf is what the end of a command says; nil is that the task is well.
func answerOf(p *engine.Health, a container.Answer) error {
	switch ws := a.Status; {
	case a.Failed != "":
		return errors.New(a.Failed)
	case a.Late:
		return fmt.Errorf("no answer from %s within %s", p.Command[0], p.Timeout)
	case ws.Signaled():
		return fmt.Errorf("%s: SIG%s", p.Command[0], process.SignalName(ws.Signal()))
	case ws.ExitStatus() != 0:
		return fmt.Errorf("code %d of %s%s", ws.ExitStatus(), p.Command[0], lastWords(a.Said))
	}
	return nil
}

// leave ends the command that asks now.
func (p *patient) leave() {
	if p.pid != 0 {
		process.Kill(syscall.SIGKILL, append(process.Descendants(p.pid), p.pid)...)
	}
}

// lastWords is the last line of what a probe has said, to add to a sentence.
func lastWords(said string) string {
	said = strings.TrimSpace(said)
	said = said[strings.LastIndexByte(said, '\n')+1:]
	if said == "" {
		return ""
	}
	const most = 200
	return ": " + strings.ToValidUTF8(said[:min(len(said), most)], "")
}
