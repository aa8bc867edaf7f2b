//go:build linux

package taskhost

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/taskhost/container"
	"muster.dev/muster/internal/taskhost/process"
)

// A box is the container of a task. The task's own process is then the
// runtime's, in the foreground; what goes on inside is told by the container's
// first process, through a socket that it finds there.
type box struct {
	name  string
	conn  net.Conn // nil before the first process has spoken and after it has ended
	root  int      // the first process, as this machine counts
	main  int      // the task's program
	inner int      // the same, as the container counts
	said  container.Message
	early []hookRecord // what its programs said before it did

	signal  string    // to be passed on as soon as somebody listens
	killed  time.Time // when we began to kill it
	endedAt time.Time // when the runtime's process ended
	leaving bool      // it is being removed
	gone    bool
}

// What a box is given at its end.
const (
	lateWord = 500 * time.Millisecond // for its first word, which may still be on its way to us
	lateEnd  = 3 * time.Second        // for the runtime's processes to put things away
)

// startBox launches a held task in a container, once its image is there.
func (h *host) startBox(t *task, l *engine.Launch) {
	if t.box != nil {
		return // it waits for its image
	}
	t.launch, t.box = l, &box{name: container.Name(h.run, t.seen.Instance)}
	h.withImage(l.Container, func(c container.ImageConfig, err error) {
		if h.tasks[t.seen.Instance] != t || t.seen.State != engine.Holding {
			return // stopped meanwhile
		}
		if err != nil {
			h.startFailed(t, &process.StartError{Code: 125, Text: err.Error()})
			return
		}
		h.launch(t, func() (process.Command, error) { return h.boxCommand(t, c) })
	})
}

// boxCommand notes that a container will be made and returns what makes it.
func (h *host) boxCommand(t *task, image container.ImageConfig) (process.Command, error) {
	c, dir := t.launch.Container, h.config.Dir
	if err := container.Enter(dir, t.box.name, c.Runtime); err != nil {
		return process.Command{}, err
	}
	exe, err := os.Executable()
	if err == nil {
		err = h.openDoor()
	}
	if err != nil {
		return process.Command{}, err
	}
	mounts := []engine.Mount{{Source: hookDir(dir), Path: hookDir(dir), ReadOnly: true}, {Source: filepath.Join(dir, HookName), Path: filepath.Join(dir, HookName)}}
	if c.Ranks {
		shared, err := meetingMounts(dir)
		if err != nil {
			return process.Command{}, err
		}
		mounts = append(mounts, shared...)
	}
	env := t.launch.Env
	if v := image.Variable("PYTHONPATH"); v != "" && !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PYTHONPATH=") }) {
		env = append(slices.Clone(env), "PYTHONPATH="+v)
	}
	cmd, err := container.Box{
		Run: h.run, Instance: t.seen.Instance, Launch: t.launch, Image: image, Env: hookEnv(env, dir, t.seen.Instance),
		Mounts: mounts,
		Exe:    exe, Socket: filepath.Join(container.Dir(dir), container.SocketName), EnvFile: filepath.Base(container.EnvFile(dir, t.box.name)),
		UID: os.Getuid(), GID: os.Getgid(),
	}.Command()
	if err != nil {
		return process.Command{}, &process.StartError{Code: 125, Text: err.Error()}
	}
	err = os.WriteFile(container.EnvFile(dir, t.box.name), cmd.EnvFile, 0o600)
	// Podman takes a comma in a file's path for the end of it: from here it has none.
	return process.Command{Argv: cmd.Argv, Env: cmd.Env, Dir: container.Dir(dir)}, err
}

// meetingMounts are what ranks in containers share: where they meet, and the
// memory of this machine, which MPI takes them to have together. A launcher
// reads in the journal how they ended.
func meetingMounts(dir string) ([]engine.Mount, error) {
	ranks, journal := filepath.Join(dir, RanksName), filepath.Join(dir, JournalName)
	memory := filepath.Join(ranks, "shm")
	if err := os.MkdirAll(memory, 0o700); err != nil {
		return nil, err
	}
	return []engine.Mount{{Source: ranks, Path: ranks}, {Source: memory, Path: "/dev/shm"}, {Source: journal, Path: journal, ReadOnly: true}}, nil
}

// openDoor lets containers speak to us. Their users may differ from ours, so the
// socket itself is open; the folder that it lies in is not.
func (h *host) openDoor() error {
	if h.door != nil {
		return nil
	}
	dir := container.Dir(h.config.Dir)
	err := throughDescriptor(dir, func(dir string) error {
		path := filepath.Join(dir, container.SocketName)
		_ = os.Remove(path)
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			return err
		}
		h.door = l
		return os.Chmod(path, 0o666)
	})
	if err != nil {
		return err
	}
	h.door.SetUnlinkOnClose(false)
	go h.answerDoor(h.door)
	return nil
}

func (h *host) answerDoor(l *net.UnixListener) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return
		}
		go h.hear(conn)
	}
}

// hear passes on what a container says, in order.
func (h *host) hear(conn *net.UnixConn) {
	in := json.NewDecoder(conn)
	var first container.Message
	pid, _, err := process.Peer(conn)
	if err != nil || in.Decode(&first) != nil {
		_ = conn.Close()
		return
	}
	h.events <- func(h *host) { h.greetBox(conn, pid, first) }
	for {
		var m container.Message
		if in.Decode(&m) != nil {
			h.events <- func(h *host) { h.boxClosed(conn) }
			return
		}
		h.events <- func(h *host) {
			if t := h.boxOf(conn); t != nil {
				h.heedBox(t, m)
			}
		}
	}
}

func (h *host) boxOf(conn net.Conn) *task {
	for _, t := range h.tasks {
		if t.box != nil && t.box.conn == conn {
			return t
		}
	}
	return nil
}

// greetBox takes the first word of a container. One that nobody waits for any
// more is let go, which ends it.
func (h *host) greetBox(conn net.Conn, pid int, m container.Message) {
	for _, t := range h.tasks {
		if t.seen.Instance.String() != m.Task || t.box == nil || t.box.root != 0 || t.pid == 0 {
			continue
		}
		b := t.box
		b.conn, b.root, b.inner, b.said = conn, pid, m.Started, m
		for _, child := range process.Children(pid) {
			if process.InnerPid(child) == b.inner {
				b.main = child
			}
		}
		if m.Started != 0 && t.seen.State == engine.Starting {
			t.seen.State, t.seen.Joined = engine.Running, t.launch.Joined == nil
			t.lastLoud = h.sampler.clock
		}
		t.seen.Pid = b.main
		h.mark(t)
		for _, r := range b.early {
			h.heedHook(t, r)
		}
		b.early = nil
		if b.signal != "" {
			b.send(b.signal)
		}
		return
	}
	_ = conn.Close()
}

func (h *host) boxClosed(conn net.Conn) {
	if t := h.boxOf(conn); t != nil {
		t.box.conn = nil
	}
	_ = conn.Close()
}

// send has a signal passed on to the task.
func (b *box) send(signal string) {
	if b.conn == nil {
		b.signal = signal
		return
	}
	b.tell(container.Message{Signal: signal})
}

func (b *box) tell(m container.Message) {
	_ = b.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_ = json.NewEncoder(b.conn).Encode(m)
}

// main is the pid of a task's program.
func (t *task) main() int {
	if t.box != nil {
		return t.box.main
	}
	return t.pid
}

// tree are the processes of a task that we can see.
func (t *task) tree() []int {
	switch {
	case t.box == nil:
		return append(process.Descendants(t.pid), t.pid)
	case t.box.conn == nil:
		return nil
	}
	return process.Descendants(t.box.root)
}

// outer is the pid, as this machine counts, of a process that the task knows as
// pid; -1 when it is gone.
func (t *task) outer(pid int) int {
	if t.box == nil {
		return pid
	}
	if pid == t.box.inner {
		return t.box.main
	}
	for _, p := range t.tree() {
		if process.InnerPid(p) == pid {
			return p
		}
	}
	return -1
}

// heedBox takes in what a container says after its first word.
func (h *host) heedBox(t *task, m container.Message) {
	switch {
	case m.Ended != nil:
		t.box.said.Ended = m.Ended
		if t.launch.Teardown != nil && !t.decided {
			h.decide(t)
			t.after.begun = true
			h.clearing(t, t.launch.Teardown.Limit+lateEnd)
		}
	case m.Probed != nil:
		h.answered(t, *m.Probed)
	case m.TornDown != nil:
		t.after.done = true
		h.noteTeardown(t, *m.TornDown)
	}
}

// killBox ends a container: with its first process everything in it ends. Of
// one that has not spoken yet we can only end the maker. Where a teardown is to
// come, only the program is ended; that has its own time.
func (h *host) killBox(t *task) {
	b := t.box
	if b.conn != nil && t.launch.Teardown != nil && !t.decided {
		if b.killed.IsZero() {
			b.killed = time.Now()
			b.send("KILL")
		}
		if time.Since(b.killed) < lateEnd {
			return
		}
	}
	if b.killed.IsZero() {
		b.killed = time.Now()
	}
	if b.conn == nil || time.Since(b.killed) > lateEnd {
		process.KillGroup(syscall.SIGKILL, t.pid)
	}
	if b.conn != nil && syscall.Kill(b.root, syscall.SIGKILL) != nil {
		b.send("KILL") // it is another user's
	}
}

// settled says that nothing is left of a task's container after the end of the
// runtime's process, and sees to it.
func (h *host) settled(t *task) bool {
	b := t.box
	since := time.Since(b.endedAt)
	switch ws := t.ended.Status; {
	case b.gone:
		return true
	case b.leaving || b.root == 0 && since < lateWord:
	case b.conn != nil && since < lateWord: // its last word is on its way
	case b.conn != nil:
		h.killBox(t)
	case b.root != 0 && ws.Exited() && ws.ExitStatus() != 125: // it has removed it
		b.gone = true
		container.Strike(h.config.Dir, b.name)
		return true
	default:
		b.leaving = true
		r := t.launch.Container.Runtime
		h.aside(container.RemoveCommand(r, b.name), r.Env, func(a answer) {
			// What is still on the ledger then is tried again when we are gone.
			if b.gone = true; container.Gone(a.ok, a.stderr) && b.root != 0 {
				container.Strike(h.config.Dir, b.name)
			}
		})
	}
	return false
}

// boxEnd is how the program of a task in a container ended, which the runtime's
// process only hints at, or why it could not be started.
func (h *host) boxEnd(t *task) (syscall.WaitStatus, error) {
	b := t.box
	switch {
	case b.said.Failed != nil:
		return 0, &process.StartError{Code: b.said.Failed.Code, Text: b.said.Failed.Text}
	case b.said.Ended != nil:
		return b.said.Ended.Status, nil
	}
	ws := t.ended.Status
	switch {
	case b.root == 0 && !t.seen.Asked && ws.Exited():
		words := container.Complaint(string(tail(filepath.Join(LogDir(h.config.Dir, t.seen.Instance), "stderr"), 4096)))
		return 0, &process.StartError{Code: max(ws.ExitStatus(), 125), Text: t.launch.Container.Runtime.Kind + ": " + words}
	case ws.Exited() && ws.ExitStatus() > 128:
		return syscall.WaitStatus(ws.ExitStatus() - 128), nil
	}
	return ws, nil
}
