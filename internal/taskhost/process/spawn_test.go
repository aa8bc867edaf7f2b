//go:build linux

package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSignalNames(t *testing.T) {
	for name, number := range map[string]syscall.Signal{
		"TERM": syscall.SIGTERM, "SIGTERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "USR1": syscall.SIGUSR1, "HUP": syscall.SIGHUP,
		"no such": syscall.SIGTERM, // asks, whatever was meant
	} {
		if got := SignalNumber(name); got != number {
			t.Errorf("%s is %d, want %d", name, got, number)
		}
	}
	for number, name := range map[syscall.Signal]string{syscall.SIGSEGV: "SEGV", syscall.SIGKILL: "KILL", syscall.SIGSYS: "SYS"} {
		if got := SignalName(number); got != name {
			t.Errorf("%d is %s, want %s", number, got, name)
		}
	}
	if got := SignalName(unix.Signal(40)); got == "" { // a real-time signal
		t.Error("signal 40 has no name at all")
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s, err := NewSpawner()
	if err != nil {
		t.Fatal(err)
	}
	path := []string{"PATH=" + dir + ":/usr/bin:/bin"}
	for _, c := range []struct {
		name string
		cmd  Command
		code int
		text string
	}{
		{"not in PATH", Command{Argv: []string{"no-such"}, Env: path}, 127, "no-such: not found in PATH"},
		{"not at its path", Command{Argv: []string{dir + "/none"}}, 127, "none: not found"},
		{"not at its relative path", Command{Argv: []string{"./none"}, Dir: dir}, 127, dir + "/none: not found"},
		{"not executable", Command{Argv: []string{file("data", "", 0o600)}}, 126, "not executable"},
		{"not executable in PATH", Command{Argv: []string{"data"}, Env: path}, 126, dir + "/data: not executable"},
		{"a folder", Command{Argv: []string{dir}}, 126, "not executable"},
		{"not a program", Command{Argv: []string{file("text", "hello", 0o700)}}, 126, "not a program"},
		{"no interpreter", Command{Argv: []string{file("script", "#!/no/such\n", 0o700)}}, 127, "interpreter"},
		{"no folder", Command{Argv: []string{"/bin/true"}, Dir: dir + "/none"}, 126, dir + "/none is not there"},
		{"a file as folder", Command{Argv: []string{"/bin/true"}, Dir: file("file", "", 0o600)}, 126, "is not there"},
		{"too long", Command{Argv: []string{"/bin/true", strings.Repeat("x", 1<<20)}}, 126, "too long"},
	} {
		_, err := s.Start(c.cmd)
		var se *StartError
		if !errors.As(err, &se) || se.Code != c.code || !strings.Contains(se.Text, c.text) {
			t.Errorf("%s: %v, want %d %s", c.name, err, c.code, c.text)
		}
	}
}

// TestReaper starts a child that ends and leaves another behind. Without
// children a reaper sleeps, so that it takes none from the tests after this one.
func TestReaper(t *testing.T) {
	s, err := NewSpawner()
	if err != nil {
		t.Fatal(err)
	}
	r := NewReaper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	pid, err := s.Start(Command{Argv: []string{"sh", "-c", "pwd; echo $A; (sleep 0.01; exit 4) & exit 3"}, Dir: "/", Env: []string{"A=b", "PATH=/usr/bin:/bin"}, Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	r.Forked()
	codes := map[bool]int{}
	for range 2 { // ours, and the one it left to us
		x := <-r.Exits()
		codes[x.Pid == pid] = x.Status.ExitStatus()
		if x.Memory <= 0 || x.Memory > TotalMemory() {
			t.Errorf("it had %d bytes of %d", x.Memory, TotalMemory())
		}
	}
	if codes[true] != 3 || codes[false] != 4 {
		t.Errorf("exit codes %v, want 3 of ours and 4 of the orphan", codes)
	}
	if text, _ := os.ReadFile(out.Name()); string(text) != "/\nb\n" {
		t.Errorf("it wrote %q", text)
	}
}
