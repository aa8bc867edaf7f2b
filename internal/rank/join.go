//go:build linux

package rank

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost"
	"muster.dev/muster/internal/taskhost/process"
)

const (
	comeTime   = time.Hour        // for a task to begin to wait; its setup comes first, and if that fails we are ended, too
	recordTime = 10 * time.Second // for its end to be recorded
	pause      = 10 * time.Millisecond

	// forever is until the task host, with which its containers end, has gone.
	forever = 100 * 365 * 24 * time.Hour
)

// join hands over what mpirun gave to this process, which stands in for a rank,
// and ends as the rank does.
func join(m *meeting) error {
	n, err := number()
	if err != nil {
		return err
	}
	task := job.Task{Role: role, Index: n}
	conn, err := m.dial(n)
	if err != nil {
		return fmt.Errorf("join %s: %w", task, err)
	}
	p, err := peerOf(conn)
	if err == nil {
		err = m.handOver(conn, task, p)
	}
	_ = conn.Close()
	if err != nil {
		return fmt.Errorf("join %s: %w", task, err)
	}
	if p.handle == nil {
		return m.outcome(task, forever)
	}
	process.AwaitEnd(p.handle)
	return m.outcome(task, recordTime)
}

// handOver gives the rank what it needs to be one.
func (m *meeting) handOver(conn *net.UnixConn, task job.Task, p peer) error {
	r, end, err := newRelay()
	if err != nil {
		return err
	}
	if err := send(conn, os.Environ(), end); err != nil || r == nil {
		return err
	}
	_ = end.Close() // the rank's alone now
	r.start(func(code int) {
		// What cannot be told shows when the rank, which waits for it, is ended.
		_ = taskhost.Tell(m.runDir, job.Instance{Task: task, Attempt: m.attempt, Try: 1}, p.pid, code)
	})
	return nil
}

// number is the rank that mpirun gave to this process.
func number() (int, error) {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"} {
		if v, ok := os.LookupEnv(name); ok {
			n, err := strconv.Atoi(v)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", name, err)
			}
			return n, nil
		}
	}
	return 0, errors.New("mpirun gave no rank (OMPI_COMM_WORLD_RANK, PMIX_RANK or PMI_RANK)")
}

// dial connects to the task of a rank, which may have yet to begin to wait.
func (m *meeting) dial(rank int) (*net.UnixConn, error) {
	for until := time.Now().Add(comeTime); ; time.Sleep(pause) {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: m.address(rank), Net: "unix"})
		if err == nil || time.Now().After(until) {
			return conn, err
		}
	}
}

// A peer is the process at the other end of a connection.
type peer struct {
	pid    int      // as it counts itself
	handle *os.File // nil where we cannot see it: it is in another container
}

func peerOf(conn *net.UnixConn) (p peer, err error) {
	pid, _, err := process.Peer(conn)
	if err == nil && pid != 0 {
		p.handle, err = process.Hold(pid)
	}
	if err != nil {
		return p, err
	}
	p.pid, err = hear(conn)
	return p, err
}

// outcome tells mpirun how the rank ended, as its host has recorded it. By then
// the host knows, and whatever mpirun does now comes later in its account.
func (m *meeting) outcome(task job.Task, within time.Duration) error {
	journal, until := filepath.Join(m.runDir, taskhost.JournalName), time.Now().Add(within)
	for looked := int64(-2); time.Now().Before(until); time.Sleep(pause) {
		size := sizeOf(journal) // before we look, so that nothing is missed
		if size == looked {
			continue
		}
		looked = size
		for _, i := range m.ended() {
			if i.Task == task {
				return failure(i)
			}
		}
	}
	return exitError(1)
}

func sizeOf(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return st.Size()
}

// ended are the ranks of this attempt that their host has recorded as ended.
func (m *meeting) ended() []engine.Instance {
	all, _ := taskhost.ReadJournal(m.runDir) // the next look may fare better
	return slices.DeleteFunc(all, func(i engine.Instance) bool {
		return i.Task.Role != role || i.Attempt != m.attempt || !i.Over()
	})
}

func failure(i engine.Instance) error {
	if !i.Failed() {
		return nil
	}
	return exitError(max(i.ExitCode(), 1)) // what Muster ended for a reason of its own has no code
}
