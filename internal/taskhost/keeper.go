//go:build linux

package taskhost

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"muster.dev/muster/internal/crash"
)

// A keeper starts the host of a detached run and stays outside its namespace,
// where it can start new owners. It ends with the host.

// startKept starts a keeper and learns from it which host it has started.
func startKept(exe, runDir string, iso Isolation, conn *os.File) (*Process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	log, err := os.OpenFile(runDir+"/host.log", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	proc, err := os.StartProcess(exe, []string{exe, "taskhost", runDir, string(iso), "keep"}, &os.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: []*os.File{nil, log, log, conn, w}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	_ = w.Close()
	if err != nil {
		return nil, err
	}
	go func() { _, _ = proc.Wait() }()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	var told struct {
		Record
		Error string
	}
	if err == nil {
		err = json.Unmarshal(line, &told)
	}
	if err == nil && told.Error != "" {
		err = errors.New(told.Error)
	}
	if err != nil {
		return nil, fmt.Errorf("start a task host: %w", err)
	}
	h := told.Open()
	if h == nil {
		return nil, errors.New("the task host ended at once; see host.log in the run's folder")
	}
	return &Process{Record: told.Record, Handle: h}, nil
}

// keep is the keeper's life. File 3 is the owner's stream for the host, file 4
// takes the answer.
func keep(exe, runDir string, iso Isolation) error {
	swallowSignals()
	conn, answer := os.NewFile(3, "owner"), os.NewFile(4, "answer")
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	theirs, ours := os.NewFile(uintptr(fds[1]), "host"), os.NewFile(uintptr(fds[0]), "keeper")
	p, err := startDirect(exe, runDir, iso, conn, theirs)
	if err != nil {
		_ = json.NewEncoder(answer).Encode(map[string]string{"Error": err.Error()})
		return err
	}
	_ = theirs.Close()
	_ = conn.Close()
	crash.Point("keeper.host-started")
	if err := json.NewEncoder(answer).Encode(p.Record); err != nil {
		return err
	}
	_ = answer.Close()
	crash.Point("keeper.answered")
	if _, err := ours.Write([]byte{goByte}); err != nil {
		return err
	}
	own := []string{exe, "own", runDir}
	for buf := make([]byte, 1); ; {
		if _, err := ours.Read(buf); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		pid, err := startOwner(own)
		if err != nil {
			fmt.Fprintln(os.Stderr, "muster taskhost:", err)
			continue
		}
		go func() {
			if p, err := os.FindProcess(pid); err == nil {
				_, _ = p.Wait()
			}
		}()
	}
}
