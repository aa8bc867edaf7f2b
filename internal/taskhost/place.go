//go:build linux

package taskhost

import (
	"errors"
	"os"
	"slices"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost/process"
)

// hold makes places for the instances that have none and returns which.
func (h *host) hold(wants []engine.Want) (made map[job.Instance]bool) {
	made = map[job.Instance]bool{}
	var fresh []engine.Want
	node, _ := os.Hostname()
	for _, w := range wants {
		if w.State != engine.Stopped && h.tasks[w.Instance] == nil {
			fresh = append(fresh, w)
			made[w.Instance] = true
			h.tasks[w.Instance] = &task{seen: engine.Instance{Instance: w.Instance, State: engine.Holding, Node: node, Addr: "127.0.0.1"}}
			h.mark(h.tasks[w.Instance])
		}
	}
	if len(fresh) == 0 {
		return made
	}
	h.holdPorts(fresh)
	// While the owner decides, make what the start will need.
	h.tell()
	for _, w := range fresh {
		if t := h.tasks[w.Instance]; t != nil && !t.seen.State.Gone() {
			_ = h.openLogs(t) // the start tries again and says why not
		}
	}
	return made
}

// holdPorts gives places their ports: first those with a number, so that no
// free one gets it. The ports at which tasks meet are taken together and given
// out in order, so that they ascend with the index.
func (h *host) holdPorts(fresh []engine.Want) {
	meet := 0
	for _, w := range fresh {
		h.holdNumbers(h.tasks[w.Instance], w.Listen)
		meet += w.Ports
	}
	ports, err := process.HoldPorts(meet)
	for _, w := range fresh {
		t := h.tasks[w.Instance]
		if err != nil {
			h.placeFailed(t, err)
			continue
		}
		own := ports[:w.Ports:w.Ports]
		ports = ports[w.Ports:]
		if t.seen.State.Gone() {
			process.Release(own)
			continue
		}
		t.ports = append(t.ports, own...)
		t.seen.Ports = process.Numbers(own)
		h.holdFree(t)
	}
}

// holdNumbers holds the ports of a task that have a number.
func (h *host) holdNumbers(t *task, wanted []int) {
	t.seen.Listen = slices.Clone(wanted)
	for _, number := range wanted {
		if number == 0 {
			continue
		}
		p, err := process.HoldNumber(number, "run "+h.run)
		if err != nil {
			h.placeFailed(t, err)
			return
		}
		t.ports = append(t.ports, p)
	}
}

// holdFree chooses the ports of a task that have none.
func (h *host) holdFree(t *task) {
	for n, number := range t.seen.Listen {
		if number != 0 {
			continue
		}
		p, err := process.HoldFree(1)
		if err != nil {
			h.placeFailed(t, err)
			return
		}
		t.ports = append(t.ports, p...)
		t.seen.Listen[n] = p[0].Number
	}
}

func (h *host) placeFailed(t *task, err error) {
	if t.seen.State.Gone() {
		return // for another reason
	}
	t.seen.Listen = nil
	var taken *process.Taken
	if errors.As(err, &taken) {
		t.seen.Taken = &engine.TakenPort{Port: taken.Port, By: taken.By}
	}
	h.startFailed(t, &process.StartError{Code: 125, Text: err.Error()})
}
