//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// crowd is how many tasks sleep, and nap for how long.
const (
	crowd = 200
	nap   = 3 * time.Second
)

// measures are the values that sleepTogether gives, in its order.
var measures = []struct {
	name, unit string
	goals      []target
}{
	{", to all running", "ms", nil},
	{", to its end, less the 3 s of sleep", "ms", nil},
	{", memory (PSS), without the tasks", "MB", []target{atMost(40, "MB")}},
	{", memory (RSS), without the tasks", "MB", nil},
	{", CPU while all sleep, of one core", "%", nil},
}

func measureCrowd(b *bench) error {
	const bare, ours, detached = "shell, 200 x sleep & wait", "muster run -n 200", "muster run -d -n 200"
	sleep := fmt.Sprintf("/bin/sleep %g", nap.Seconds())
	results, err := race(b.rounds(6), []contender{
		{name: bare, once: func() ([]float64, error) {
			script := fmt.Sprintf("i=0; while [ $i -lt %d ]; do %s & i=$((i+1)); done; echo up %d/%d; wait", crowd, sleep, crowd, crowd)
			return sleepTogether(exec.Command("/bin/sh", "-c", script))
		}},
		{name: ours, once: func() ([]float64, error) {
			return sleepTogether(b.command("crowd", strings.Fields(fmt.Sprintf("run --framework plain -n %d -- %s", crowd, sleep))...))
		}},
		{name: detached, once: func() ([]float64, error) { return b.sleepDetached(sleep) }, every: 2},
	})
	if err != nil {
		return err
	}
	r := b.report
	var floors []*figure
	for i, m := range measures {
		floors = append(floors, r.addResult(bare+m.name, m.unit, results[bare], i, nil))
		r.addResult(ours+m.name, m.unit, results[ours], i, floors[i], m.goals...)
	}
	r.addResult(detached+measures[2].name, "MB", results[detached], 0, floors[2], atMost(40, "MB"))
	r.addResult(detached+measures[3].name, "MB", results[detached], 1, floors[3])
	return nil
}

// sleepTogether measures a job of many sleepers: the time until it says that
// all run, the time to its end, the memory of everything but the sleepers, and
// the CPU they use while nothing happens.
func sleepTogether(c *exec.Cmd) ([]float64, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c.Stdout, c.Stderr = w, w
	began := time.Now()
	err = c.Start()
	_ = w.Close()
	if err != nil {
		return nil, err
	}
	up, text, err := awaitUp(r, began)
	if err != nil {
		_ = c.Process.Kill()
		_ = c.Wait()
		return nil, err
	}
	pids := others(append(descendants(c.Process.Pid), c.Process.Pid))
	time.Sleep(time.Second) // until what was used to start is given back
	before, at := cpuTime(pids), time.Now()
	time.Sleep(time.Second)
	cpu := 100 * (cpuTime(pids) - before).Seconds() / time.Since(at).Seconds()
	pss, rss := memory(pids)
	rest, _ := io.ReadAll(text)
	if err := c.Wait(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, lastLines(string(rest), 6))
	}
	return []float64{ms(up), ms(time.Since(began) - nap), pss, rss, cpu}, nil
}

// awaitUp reads until a line says that all are there.
func awaitUp(r io.Reader, began time.Time) (time.Duration, io.Reader, error) {
	text := bufio.NewReader(r)
	sign := fmt.Sprintf("%d/%d", crowd, crowd)
	var said strings.Builder
	for {
		line, err := text.ReadString('\n')
		if strings.Contains(line, sign) {
			return time.Since(began), text, nil
		}
		said.WriteString(line)
		if err != nil {
			return 0, nil, fmt.Errorf("it never said %s:\n%s", sign, lastLines(said.String(), 6))
		}
	}
}

// others are the processes that are not sleepers.
func others(pids []int) []int {
	asleep := map[int]bool{}
	for _, pid := range named("sleep", pids) {
		asleep[pid] = true
	}
	var rest []int
	for _, pid := range pids {
		if !asleep[pid] {
			rest = append(rest, pid)
		}
	}
	return rest
}

// sleepDetached measures the memory of a run that nobody is attached to: its
// owner, its keeper and its host are found by the run's folder, which they are
// started with.
func (b *bench) sleepDetached(sleep string) ([]float64, error) {
	c := b.command("crowd", strings.Fields(fmt.Sprintf("run -d --framework plain -n %d -- %s", crowd, sleep))...)
	id, err := finish(c)
	if err != nil {
		return nil, err
	}
	id = strings.TrimSpace(id)
	time.Sleep(time.Second)
	pids := withArgument("/runs/" + id)
	pss, rss := memory(pids)
	if len(pids) == 0 {
		err = fmt.Errorf("no process of %s was found: %w", id, errWrong)
	}
	if _, werr := finish(b.command("crowd", "wait", id)); err == nil {
		err = werr
	}
	return []float64{pss, rss}, err
}
