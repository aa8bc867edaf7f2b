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
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/taskhost/process"
)

const exitBroken = 125 // as both runtimes say that they could not do it

// ExitVariable tells a teardown how its task ended.
const ExitVariable = "MUSTER_EXIT_CODE"

// Main is the life of a container's first process: "muster box TASK DIR
// TEARDOWN PROGRAM...". It starts the program, and what comes after it, and
// tells the task host how they end. It is the reaper of its container, so with
// it everything in there ends, and it ends when the host does: nothing of a run
// outlives that.
func Main(args []string) int {
	above, args := takeAbove(args)
	if len(args) < 4 {
		fmt.Fprintln(os.Stderr, "muster box is started by muster itself, in a container")
		return 2
	}
	i := &initial{task: args[0], dir: args[1], above: above, told: make(chan Message), probes: map[int]*probe{}}
	if err := json.Unmarshal([]byte(args[2]), &i.teardown); err != nil {
		fmt.Fprintln(os.Stderr, "muster box:", err)
		return 2
	}
	conn, err := net.Dial("unix", socketPath)
	if err != nil {
		fmt.Fprintln(os.Stderr, "muster: the container cannot reach its task host:", err)
		return exitBroken
	}
	i.tell = json.NewEncoder(conn)
	go i.listen(conn)
	return i.run(args[3:])
}

// An initial is a first process.
type initial struct {
	task, dir string
	above     int // where the program's process id shall be; 0: anywhere
	teardown  *engine.Teardown
	tell      *json.Encoder
	told      chan Message // from the host; closed when it is gone

	spawner *process.Spawner
	reaper  *process.Reaper
	pid     int // the program; 0 when it has ended
	exit    int // its code
	after   int // the teardown
	late    bool
	limit   <-chan time.Time
	probes  map[int]*probe
	overdue chan int // probes that take too long
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

func (i *initial) run(argv []string) int {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	i.reaper, i.overdue = process.NewReaper(), make(chan int, 16)
	var err error
	i.pid, err = i.startProgram(argv)
	if err != nil {
		f := &NotBegun{126, err.Error()}
		var se *process.StartError
		if errors.As(err, &se) {
			f.Code = se.Code
		}
		_ = i.tell.Encode(Message{Task: i.task, Failed: f})
		return f.Code
	}
	_ = i.tell.Encode(Message{Task: i.task, Started: i.pid})
	for {
		var over bool
		select {
		case x := <-i.reaper.Exits():
			over = i.exited(x)
		case s := <-signals:
			i.pass(s.(syscall.Signal))
		case m, ok := <-i.told:
			if over = !ok; ok {
				over = i.heed(m)
			}
			if over {
				return 128 + int(syscall.SIGKILL) // the kernel ends the rest
			}
		case pid := <-i.overdue:
			i.expire(pid)
		case <-i.limit:
			i.late = true
			process.Kill(syscall.SIGKILL, process.AllBelow(os.Getpid())...)
		}
		if over {
			return i.exit
		}
	}
}

// startProgram starts the program, with a process id as it is wanted.
func (i *initial) startProgram(argv []string) (pid int, err error) {
	if i.spawner, err = process.NewSpawner(); err != nil {
		return 0, err
	}
	if err := usePids(i.above); err != nil {
		return 0, err
	}
	pid, err = i.start(process.Command{Argv: argv, Env: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		return 0, err
	}
	return pid, fits(pid, i.above) // one that does not ends with us
}

func (i *initial) start(c process.Command) (int, error) {
	c.Dir = i.dir
	pid, err := i.spawner.Start(c)
	if err == nil {
		i.reaper.Forked()
	}
	return pid, err
}

// pass passes a signal on to the program.
func (i *initial) pass(s syscall.Signal) {
	if i.pid != 0 {
		process.KillGroup(s, i.pid)
	}
}

// heed does what the host says. It returns true when all shall end.
func (i *initial) heed(m Message) bool {
	switch s := process.SignalNumber(m.Signal); {
	case m.Probe != nil:
		i.ask(*m.Probe)
	case s != syscall.SIGKILL:
		i.pass(s)
	case i.teardown == nil:
		return true
	case i.pid != 0:
		process.Kill(syscall.SIGKILL, process.AllBelow(os.Getpid())...)
	}
	return false
}

// exited takes note of the end of a child. It returns true when nothing is left
// to be done.
func (i *initial) exited(x process.Exit) bool {
	switch {
	case x.Pid == i.pid:
		i.pid, i.exit = 0, exitCode(x.Status)
		_ = i.tell.Encode(Message{Ended: &Ending{x.Status, oomKills()}})
		return !i.tearDown()
	case x.Pid == i.after && i.after != 0:
		_ = i.tell.Encode(Message{TornDown: &TornDown{Status: x.Status, Late: i.late}})
		return true
	}
	i.answer(x)
	return false
}

// tearDown ends what the program has left and starts what comes after it.
func (i *initial) tearDown() bool {
	if i.teardown == nil {
		return false
	}
	for left := process.AllBelow(os.Getpid()); len(left) > 0; left = process.AllBelow(os.Getpid()) {
		process.Kill(syscall.SIGKILL, left...)
		select {
		case <-i.reaper.Exits():
		case <-time.After(5 * time.Millisecond):
		}
	}
	var err error
	env := append(os.Environ(), fmt.Sprintf("%s=%d", ExitVariable, i.exit))
	i.after, err = i.start(process.Command{Argv: i.teardown.Argv, Env: env, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		_ = i.tell.Encode(Message{TornDown: &TornDown{Failed: err.Error()}})
		return false
	}
	i.limit = time.After(i.teardown.Limit)
	return true
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
