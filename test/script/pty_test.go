//go:build linux

package script

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"muster.dev/muster/test/suite"
)

// A terminal is a pseudo terminal with a program on it.
type terminal struct {
	t     *testing.T
	scene *scene
	cmd   *exec.Cmd
	keys  *os.File // its other side
	done  chan struct{}

	mu  sync.Mutex
	raw []byte
	*screen
}

// onTerminal starts a program on a terminal of 100 columns and 24 rows.
func onTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	return onTerminalOf(t, 100, env, args...)
}

// onTerminalOf starts a program on a terminal of so many columns and 24 rows.
// At the end of the test nothing of it may be left.
func onTerminalOf(t *testing.T, columns int, env []string, args ...string) *terminal {
	t.Helper()
	keys, tty := openTerminal(t, columns)
	defer tty.Close()
	work := t.TempDir()
	term := &terminal{t: t, scene: &scene{work: work}, keys: keys, done: make(chan struct{}), screen: &screen{rows: [][]rune{nil}, width: columns}}
	term.cmd = exec.Command("env", append([]string{"--"}, args...)...)
	term.cmd.Dir = work
	term.cmd.Env = append([]string{
		"PATH=" + binaries + ":" + os.Getenv("PATH"), "HOME=" + work, "WORK=" + work, "TERM=xterm", "LC_ALL=C.UTF-8",
		"MUSTER_STATE_DIR=" + filepath.Join(work, "state"),
	}, env...)
	term.cmd.Stdin, term.cmd.Stdout, term.cmd.Stderr = tty, tty, tty
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := term.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() { term.read(); close(read) }()
	go func() { _ = term.cmd.Wait(); <-read; close(term.done) }()
	t.Cleanup(term.leave)
	return term
}

func openTerminal(t *testing.T, columns int) (keys, tty *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		suite.Require(t, "script", "no pseudo terminals here: "+err.Error())
	}
	t.Cleanup(func() { _ = keys.Close() })
	fd := int(keys.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)})
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return keys, tty
}

func (term *terminal) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := term.keys.Read(buf)
		term.mu.Lock()
		term.raw = append(term.raw, buf[:n]...)
		term.screen.write(string(buf[:n]))
		term.mu.Unlock()
		if err != nil {
			return // the last program on it has gone
		}
	}
}

func (term *terminal) leave() {
	_ = term.cmd.Process.Kill()
	<-term.done
	if left := term.scene.leftovers(); len(left) > 0 {
		term.t.Errorf("left behind: %q", left)
	}
}

// text is what one sees now, and all that has scrolled away.
func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.screen.text()
}

// broken are the rows that were too long for the terminal.
func (term *terminal) broken() []string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return slices.Clone(term.screen.broken)
}

// bytes is all that came, as it came.
func (term *terminal) bytes() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return string(term.raw)
}

func (term *terminal) await(text string) {
	term.t.Helper()
	if !eventually(func() bool { return strings.Contains(term.text(), text) }) {
		term.t.Fatalf("%q does not come:\n%s", text, term.text())
	}
}

func (term *terminal) press(keys string) {
	term.t.Helper()
	if _, err := term.keys.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// touch makes a file in the program's folder.
func (term *terminal) touch(name string) {
	term.t.Helper()
	if err := os.WriteFile(filepath.Join(term.scene.work, name), nil, 0o666); err != nil {
		term.t.Fatal(err)
	}
}

func (term *terminal) awaitFile(name string) {
	term.t.Helper()
	if !eventually(func() bool { _, err := os.Stat(filepath.Join(term.scene.work, name)); return err == nil }) {
		term.t.Fatalf("%s does not come:\n%s", name, term.text())
	}
}

// ended waits for the program and checks its code.
func (term *terminal) ended(code int) {
	term.t.Helper()
	if !eventually(func() bool {
		select {
		case <-term.done:
			return true
		default:
			return false
		}
	}) {
		term.t.Fatalf("it has not ended:\n%s", term.text())
	}
	if got := term.cmd.ProcessState.ExitCode(); got != code {
		term.t.Errorf("exit code %d, want %d:\n%s", got, code, term.text())
	}
}
