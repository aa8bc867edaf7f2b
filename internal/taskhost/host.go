//go:build linux

package taskhost

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"muster.dev/muster/internal/crash"
	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost/process"
	"muster.dev/muster/internal/taskhost/wire"
)

// A host runs the tasks of one run. Its loop owns every field.
type host struct {
	run    string
	config wire.Config
	fence  int64
	claim  *claim

	spawner *process.Spawner
	reaper  *process.Reaper
	journal *journal
	events  chan event
	clock   clock

	owner    net.Conn // nil: nobody owns us now
	out      *outbox
	summoner summoner
	summons  []time.Time

	tasks   map[job.Instance]*task
	byPid   map[int]*task
	asides  map[int]func(process.Exit)
	images  map[string]*image
	door    *net.UnixListener // where containers speak to us; nil before the first
	sampler sampler
	trouble string
	changed map[job.Instance]bool
	dropped []job.Instance
	leashed bool // the leash broke: everything is being ended
	leaving bool // forgotten, or nothing left to do
}

// An event is something for the loop to do.
type event func(*host)

// clock dates what happens by the wall clock of our start plus what has passed
// since, so that a step of the wall clock changes no order.
type clock struct{ start time.Time }

func (c clock) now() time.Time { return c.start.Add(time.Since(c.start)).Round(0) }

// tick is how often outputs are looked at: it dates a line.
const tick = 25 * time.Millisecond

// Serve runs a host until it is forgotten or its leash breaks. The first owner
// is on the other end of conn; later ones come through the socket in runDir.
func Serve(conn net.Conn, runDir string, s summoner) error {
	first, err := wire.Read(conn)
	if err != nil {
		return fmt.Errorf("wait for the owner's hello: %w", err)
	}
	if first.Hello == nil || first.Hello.Config == nil {
		return errors.New("the owner's first frame is no hello")
	}
	h, l, err := begin(first.Hello, runDir, s)
	if err != nil {
		var stale staleClaim
		_ = wire.Write(conn, wire.Message{Refuse: &wire.Refuse{Text: err.Error(), Stale: errors.As(err, &stale), Busy: errors.Is(err, ErrBusy)}})
		return err
	}
	defer l.Close()
	h.adopt(conn, first.Hello)
	go h.accept(l)
	h.loop()
	return nil
}

// begin makes the host of a run, if it may be that. Before, it touches nothing:
// neither what belongs to another host, nor what nobody would put away.
func begin(hello *wire.Hello, runDir string, s summoner) (*host, net.Listener, error) {
	c, err := takeClaim(runDir, hello.Fence)
	if err != nil {
		return nil, nil, err
	}
	crash.Point("host.claimed")
	if err := writeRecord(runDir, hello.Config.Record); err != nil {
		return nil, nil, err
	}
	crash.Point("host.recorded")
	l, err := listen(runDir)
	if err != nil {
		return nil, nil, err
	}
	h, err := newHost(hello, s)
	if err != nil {
		_ = l.Close()
		return nil, nil, err
	}
	h.claim = c
	return h, l, nil
}

func newHost(hello *wire.Hello, s summoner) (*host, error) {
	h := &host{
		run: hello.Run, config: *hello.Config, summoner: s,
		events: make(chan event, 64), clock: clock{time.Now()},
		tasks: map[job.Instance]*task{}, byPid: map[int]*task{}, changed: map[job.Instance]bool{},
		asides: map[int]func(process.Exit){}, images: map[string]*image{},
	}
	var err error
	if h.spawner, err = process.NewSpawner(); err != nil {
		return nil, err
	}
	if h.journal, err = openJournal(h.config.Dir); err != nil {
		return nil, err
	}
	if err = h.sampler.open(h.config.Dir); err != nil {
		return nil, err
	}
	h.reaper = process.NewReaper()
	return h, nil
}

// loop does one thing after the other until there is nothing left to do.
func (h *host) loop() {
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for !h.leaving {
		select {
		case e := <-h.events:
			e(h)
		case x := <-h.reaper.Exits():
			h.exited(x)
		case <-ticks.C:
			h.sample()
		}
		h.sweepDying()
		h.tell()
		h.leaveIfDone()
	}
	crash.Point("host.leaving")
	h.killEverything()
	if h.out != nil {
		h.out.close()
		// An owner that does not read must not keep us: the journal has it all.
		select {
		case <-h.out.done:
		case <-time.After(time.Second):
		}
	}
}

// tell reports what changed since the last time.
func (h *host) tell() {
	if len(h.changed) == 0 && len(h.dropped) == 0 {
		return
	}
	var changed []engine.Instance
	for i := range h.changed {
		if t := h.tasks[i]; t != nil {
			changed = append(changed, t.seen)
		}
	}
	if h.out != nil {
		h.out.add(changed, h.dropped, h.trouble)
	}
	clear(h.changed)
	h.dropped = nil
}

// accept takes later owners.
func (h *host) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			if m, err := greet(conn); err == nil {
				h.events <- func(h *host) { h.adopt(conn, m) }
			} else {
				_ = conn.Close()
			}
		}()
	}
}

// greet reads the hello of a later owner, who must be the user we run as.
func greet(conn net.Conn) (*wire.Hello, error) {
	if err := samePeer(conn); err != nil {
		return nil, err
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	defer func() { _ = conn.SetReadDeadline(time.Time{}) }()
	m, err := wire.Read(conn)
	if err != nil {
		return nil, err
	}
	if m.Hello == nil {
		return nil, errors.New("no hello")
	}
	return m.Hello, nil
}

// adopt takes an owner, unless a newer one has been here.
func (h *host) adopt(conn net.Conn, m *wire.Hello) {
	if text := h.refusal(m); text != nil {
		_ = wire.Write(conn, wire.Message{Refuse: text})
		_ = conn.Close()
		return
	}
	if h.owner != nil {
		h.release()
	}
	h.fence, h.owner = m.Fence, conn
	_ = h.claim.raise(m.Fence) // while we live, what we remember is enough
	if m.Config != nil {
		h.config.Attached, h.config.Own = m.Config.Attached, m.Config.Own
	}
	_ = wire.Write(conn, wire.Message{Hello: &wire.Hello{Version: wire.Version, Run: h.run, Fence: h.fence, Pid: os.Getpid()}})
	crash.Point("host.adopted")
	var everything []engine.Instance
	for _, t := range h.tasks {
		everything = append(everything, t.seen)
	}
	h.out = newOutbox(conn, everything, h.trouble)
	go h.listen(conn)
}

func (h *host) refusal(m *wire.Hello) *wire.Refuse {
	switch {
	case m.Run != h.run:
		return &wire.Refuse{Text: "this host runs " + h.run}
	case m.Fence < h.fence:
		return &wire.Refuse{Stale: true, Text: fmt.Sprintf("a newer owner (%d) has taken over from %d", h.fence, m.Fence)}
	case m.Version < wire.Oldest:
		return &wire.Refuse{Text: fmt.Sprintf("this owner speaks version %d of the protocol, and this host %d to %d", m.Version, wire.Oldest, wire.Version)}
	}
	return nil
}

// release lets the present owner go.
func (h *host) release() {
	h.out.close()
	_ = h.owner.Close()
	h.owner, h.out = nil, nil
}

// listen passes on what an owner says, in order.
func (h *host) listen(conn net.Conn) {
	for {
		m, err := wire.Read(conn)
		if err != nil {
			h.events <- func(h *host) { h.lostOwner(conn, err) }
			return
		}
		h.events <- func(h *host) {
			if h.owner == conn {
				h.heed(m)
			}
		}
	}
}

func (h *host) heed(m wire.Message) {
	switch {
	case m.Apply != nil && m.Apply.Fence < h.fence:
		_ = wire.Write(h.owner, wire.Message{Refuse: &wire.Refuse{Stale: true, Text: "a newer owner has taken over"}})
	case m.Apply != nil:
		h.apply(m.Apply)
	case m.Forget != nil:
		h.leaving = true
	}
}

// lostOwner is the end of the leash.
func (h *host) lostOwner(conn net.Conn, err error) {
	if h.owner != conn {
		return
	}
	h.release()
	if !errors.Is(err, io.EOF) {
		fmt.Fprintf(os.Stderr, "muster taskhost: the owner's stream broke: %v\n", err)
	}
	if h.config.Attached {
		h.leashed = true
		h.stopAll(h.config.Signal, h.config.Grace)
		return
	}
	h.summonIfAlone()
}

// leaveIfDone ends a host whose leash broke once its tasks are gone.
func (h *host) leaveIfDone() {
	if h.leashed && h.owner == nil && h.alive() == 0 {
		h.leaving = true
	}
}

func (h *host) alive() int {
	n := 0
	for _, t := range h.tasks {
		if t.pid != 0 {
			n++
		}
	}
	return n
}
