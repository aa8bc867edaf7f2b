package chaos

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// A Plan is the job of one round and how it is run.
type Plan struct {
	Name      string
	Framework string // plain or mxnet
	Workers   int
	Servers   int
	Budget    int
	Detached  bool
	Isolation string // auto or none

	Pieces int    // of output that every task writes
	Lines  int    // in a piece
	Rate   int    // lines a second
	Fails  bool   // worker-0 exits with 3 in the first attempt
	Leaves string // what worker-1 leaves behind: fork, setsid, daemon or nothing
	Memory bool   // every task has a cgroup
	GPU    bool   // every task is given one, and proves that it has it alone
}

// An Event is what a trainer wrote down about itself.
type Event struct {
	Run     string    `json:"run"`
	Task    string    `json:"task"`
	Attempt int       `json:"attempt,string"`
	Event   string    `json:"event"` // start, w1, w2 ..., end
	Time    time.Time `json:"time"`
}

// A Target is what an act kills.
type Target string

// The targets.
const (
	Owner  Target = "owner"
	Keeper Target = "keeper"
	Host   Target = "host"
	Task   Target = "task"
	Client Target = "client" // the command that submitted a detached run
	Stop   Target = "stop"   // no process: muster stop was asked, and said yes
)

// An Act is something that was done to a run: a kill, or a stop.
type Act struct {
	Target Target
	At     time.Time // when it had happened
	Hit    bool      // it had something to work on
}

// An Output is what was kept of one instance.
type Output struct{ Stdout, Stderr []byte }

// A History is all that is known of a round.
type History struct {
	Plan         Plan
	Acknowledged bool
	Reads        []run.Run // the record each time it was read after the end
	Exits        []int     // what muster run, if it lived, and muster wait gave
	Events       []Event
	Outputs      map[job.Instance]Output
	Acts         []Act
	Left         []string // what was still there after the end, in words
}

// hits counts the acts that hit one of the targets.
func (h *History) hits(targets ...Target) int {
	n := 0
	for _, a := range h.Acts {
		for _, t := range targets {
			if a.Hit && a.Target == t {
				n++
			}
		}
	}
	return n
}

// events returns those of one task in one attempt.
func (h *History) events(task string, attempt int) []Event {
	var all []Event
	for _, e := range h.Events {
		if e.Task == task && e.Attempt == attempt {
			all = append(all, e)
		}
	}
	return all
}

// piece is what a trainer writes for bytes=N,NAME: lines that depend on the
// name only.
func piece(name string, lines int) []byte {
	const length = 80
	sum := fnv.New64a()
	sum.Write([]byte(name))
	r := rand.New(rand.NewPCG(sum.Sum64(), 0))
	buf := make([]byte, 0, lines*length)
	for range lines {
		for range length - 1 {
			buf = append(buf, byte('!'+r.IntN('~'-'!'+1)))
		}
		buf = append(buf, '\n')
	}
	return buf
}

// pieceName is the name of a task's n-th piece, from 1.
func pieceName(task string, attempt, n int) string { return fmt.Sprintf("%s.%d.%d", task, attempt, n) }

// expected is what a task writes to stdout if nothing happens to it, and where
// in it each of its pieces ends.
func (p Plan) expected(i job.Instance) (all []byte, ends []int) {
	task := i.Task.String()
	if p.Framework == "mxnet" {
		all = fmt.Appendf(all, "joined %d others\n", p.Workers+p.Servers)
	}
	for n := range p.Pieces {
		all = append(all, piece(pieceName(task, i.Attempt, n+1), p.Lines)...)
		ends = append(ends, len(all))
	}
	return all, ends
}
