package main

import (
	"cmp"
	"net"
	"os"
	"sync"
	"time"
)

// A trainer is what steps share.
type trainer struct {
	run, task, attempt, try string

	pause  time.Duration // after each line
	memory [][]byte      // kept, so that it stays in use

	mu    sync.Mutex
	conns []net.Conn
}

func newTrainer() *trainer {
	return &trainer{
		run:     cmp.Or(os.Getenv("MUSTER_RUN"), "none"),
		task:    os.Getenv("MUSTER_TASK"),
		attempt: cmp.Or(os.Getenv("MUSTER_ATTEMPT"), "0"),
		try:     os.Getenv("MUSTER_TRY"),
	}
}

// keep holds a connection open until the end.
func (t *trainer) keep(c net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns = append(t.conns, c)
}

// leave tells the others that this end is meant. A failure does not.
func (t *trainer) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.conns {
		_, _ = c.Write([]byte(bye)) // the other may be gone already
		c.Close()
	}
}
