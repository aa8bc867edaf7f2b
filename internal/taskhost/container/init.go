//go:build linux

package container

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"muster.dev/muster/internal/taskhost/process"
)

// A Message is what a container's first process and the task host tell each
// other, as JSON lines.
type Message struct {
	Task    string    `json:"task,omitempty"`    // who speaks; in the first one
	Started int       `json:"started,omitempty"` // the program's pid, as the container counts
	Failed  *NotBegun `json:"failed,omitempty"`
	Ended   *Ending   `json:"ended,omitempty"`

	Signal string `json:"signal,omitempty"` // from the host: pass it on
}

// NotBegun is why a program could not be started.
type NotBegun struct {
	Code int    `json:"code"`
	Text string `json:"text"`
}

// An Ending is how a program ended.
type Ending struct {
	Status   syscall.WaitStatus `json:"status"`
	OOMKills int                `json:"oom_kills,omitempty"` // in its container, by the kernel
}

const exitBroken = 125 // as both runtimes say that they could not do it

// Main is the life of a container's first process: "muster box TASK DIR
// PROGRAM...". It starts the program and tells the task host how it ends. It is
// the reaper of its container, so with it everything in there ends, and it ends
// when the host does: nothing of a run outlives that.
func Main(args []string) int {
	above, args := takeAbove(args)
	if len(args) < 3 {
		fmt.Fprintln(os.Stderr, "muster box is started by muster itself, in a container")
		return 2
	}
	conn, err := net.Dial("unix", socketPath)
	if err != nil {
		fmt.Fprintln(os.Stderr, "muster: the container cannot reach its task host:", err)
		return exitBroken
	}
	i := &initial{task: args[0], above: above, tell: json.NewEncoder(conn), told: make(chan Message)}
	go i.listen(conn)
	return i.run(args[1], args[2:])
}

// An initial is a first process.
type initial struct {
	task  string
	above int // where the program's process id shall be; 0: anywhere
	tell  *json.Encoder
	told  chan Message // from the host; closed when it is gone
}

func (i *initial) listen(conn net.Conn) {
	defer close(i.told)
	for in := json.NewDecoder(conn); ; {
		var m Message
		if in.Decode(&m) != nil {
			return
		}
		i.told <- m
	}
}

func (i *initial) run(dir string, argv []string) int {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	reaper := process.NewReaper()
	pid, err := i.start(dir, argv)
	if err != nil {
		f := &NotBegun{126, err.Error()}
		var se *process.StartError
		if errors.As(err, &se) {
			f.Code = se.Code
		}
		_ = i.tell.Encode(Message{Task: i.task, Failed: f})
		return f.Code
	}
	reaper.Forked()
	_ = i.tell.Encode(Message{Task: i.task, Started: pid})
	for {
		select {
		case x := <-reaper.Exits():
			if x.Pid == pid {
				_ = i.tell.Encode(Message{Ended: &Ending{x.Status, oomKills()}})
				return exitCode(x.Status)
			}
		case s := <-signals:
			process.KillGroup(s.(syscall.Signal), pid)
		case m, ok := <-i.told:
			if s := process.SignalNumber(m.Signal); !ok || s == syscall.SIGKILL {
				return 128 + int(syscall.SIGKILL) // the kernel ends the rest
			} else {
				process.KillGroup(s, pid)
			}
		}
	}
}

func (i *initial) start(dir string, argv []string) (int, error) {
	spawner, err := process.NewSpawner()
	if err != nil {
		return 0, err
	}
	if err := usePids(i.above); err != nil {
		return 0, err
	}
	pid, err := spawner.Start(process.Command{Argv: argv, Env: os.Environ(), Dir: dir, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		return 0, err
	}
	return pid, fits(pid, i.above) // one that does not ends with us
}

func exitCode(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// oomKills is how many processes of this container the kernel has ended for
// want of memory.
func oomKills() int {
	for _, path := range []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"} {
		b, _ := os.ReadFile(path)
		for line := range strings.Lines(string(b)) {
			if v, ok := strings.CutPrefix(line, "oom_kill "); ok {
				n, _ := strconv.Atoi(strings.TrimSpace(v))
				return n
			}
		}
	}
	return 0
}
