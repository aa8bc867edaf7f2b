package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	dialLimit = 30 * time.Second
	hello     = "hello\n" // from a member, followed by nothing
	start     = "start\n" // to every member, when all are there
	bye       = "bye\n"   // before an end that is meant
)

func listen(name string) (action, error) {
	return func(t *trainer) error {
		l, err := net.Listen("tcp4", "127.0.0.1:"+os.Getenv(name))
		if err != nil {
			return err
		}
		fmt.Println("listening on", l.Addr())
		go accept(t, l)
		return nil
	}, nil
}

func accept(t *trainer, l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		t.keep(c)
	}
}

func dial(value string) (action, error) {
	name, limit, err := valueWait(value, dialLimit)
	return func(t *trainer) error {
		addr := os.Getenv(name)
		if !strings.Contains(addr, ":") {
			addr = "127.0.0.1:" + addr
		}
		c, err := dialUntil(addr, limit)
		if err == nil {
			t.keep(c)
			_, err = fmt.Println("connected to", addr)
		}
		return err
	}, err
}

// dialUntil tries until the other side listens.
func dialUntil(addr string, limit time.Duration) (net.Conn, error) {
	for begin := time.Now(); ; time.Sleep(poll) {
		c, err := net.DialTimeout("tcp4", addr, limit)
		if err == nil || time.Since(begin) > limit {
			return c, err
		}
	}
}

// A meeting is where the tasks of a run find each other.
type meeting struct {
	leader  bool
	addr    string // the leader's
	members int    // without the leader
	port    string // of a member's own, if it has one
}

// join waits until all are there, as frameworks do: the leader counts the
// others and then starts them.
func join(value string) (action, error) {
	if value != "" && value != "strict" {
		return nil, errors.New("want join or join=strict")
	}
	return func(t *trainer) error {
		m, err := meetingFrom(os.Getenv)
		if err != nil {
			return err
		}
		conns, err := m.hold(t)
		if err != nil {
			return err
		}
		for _, c := range conns {
			t.keep(c)
			if value == "strict" {
				go watch(c)
			}
		}
		_, err = fmt.Printf("joined %d others\n", m.members)
		return err
	}, nil
}

// meetingFrom reads the variables of ps-lite or of torch.
func meetingFrom(env func(string) string) (meeting, error) {
	count := func(name string) int { n, _ := strconv.Atoi(env(name)); return n }
	switch {
	case env("DMLC_ROLE") != "":
		return meeting{
			leader:  env("DMLC_ROLE") == "scheduler",
			addr:    net.JoinHostPort(env("DMLC_PS_ROOT_URI"), env("DMLC_PS_ROOT_PORT")),
			members: count("DMLC_NUM_WORKER") + count("DMLC_NUM_SERVER"),
			port:    env("PORT"),
		}, nil
	case env("MASTER_PORT") != "":
		return meeting{
			leader:  env("RANK") == "0",
			addr:    net.JoinHostPort(env("MASTER_ADDR"), env("MASTER_PORT")),
			members: count("WORLD_SIZE") - 1,
		}, nil
	}
	return meeting{}, errors.New("neither DMLC_ROLE nor MASTER_PORT is set")
}

func (m meeting) hold(t *trainer) ([]net.Conn, error) {
	if m.leader {
		return m.lead()
	}
	if m.port != "" {
		l, err := net.Listen("tcp4", ":"+m.port)
		if err != nil {
			return nil, err
		}
		go accept(t, l)
	}
	c, err := dialUntil(m.addr, dialLimit)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(c, hello); err != nil {
		return nil, err
	}
	return []net.Conn{c}, expect(c, start)
}

// lead listens on all addresses, as the frameworks do.
func (m meeting) lead() ([]net.Conn, error) {
	_, port, _ := net.SplitHostPort(m.addr)
	l, err := net.Listen("tcp4", ":"+port)
	if err != nil {
		return nil, err
	}
	var conns []net.Conn
	for len(conns) < m.members {
		c, err := l.Accept()
		if err != nil {
			return nil, err
		}
		if expect(c, hello) != nil {
			c.Close() // somebody who only looked whether we listen
			continue
		}
		conns = append(conns, c)
	}
	for _, c := range conns {
		if _, err := io.WriteString(c, start); err != nil {
			return nil, err
		}
	}
	return conns, nil
}

// expect reads exactly one word, and nothing that follows it.
func expect(c net.Conn, word string) error {
	got := make([]byte, len(word))
	if _, err := io.ReadFull(c, got); err != nil {
		return err
	}
	if string(got) != word {
		return fmt.Errorf("%v says %q, want %q", c.RemoteAddr(), got, word)
	}
	return nil
}

// watch ends this process when the other ends without a word.
func watch(c net.Conn) {
	word, err := bufio.NewReader(c).ReadString('\n')
	if word == bye || errors.Is(err, net.ErrClosed) {
		return
	}
	fmt.Fprintf(os.Stderr, "trainer: connection to %v was lost: %v\n", c.RemoteAddr(), err)
	os.Exit(1)
}
