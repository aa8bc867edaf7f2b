//go:build linux

package script

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// A process was begun by the command start.
type process struct {
	cmd      *exec.Cmd
	out, err string // the names of its outputs
	done     chan struct{}
}

// want stops a script whose command is used in a wrong way.
func want(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

// exits CODE COMMAND... runs a command that must exit with that code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) > 1, "exits CODE COMMAND...")
	err := ts.Exec(args[1], args[2:]...)
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		ts.Check(err)
	}
	checkCode(ts, code(status), args[0])
}

func code(err *exec.ExitError) int {
	switch {
	case err == nil:
		return 0
	case err.ExitCode() < 0:
		return 128 + int(err.Sys().(syscall.WaitStatus).Signal())
	}
	return err.ExitCode()
}

func checkCode(ts *testscript.TestScript, got int, want string) {
	if strconv.Itoa(got) != want {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}

// start NAME COMMAND... begins a command in a process group of its own. What it
// says goes to NAME.out and NAME.err.
func start(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) > 1, "start NAME COMMAND...")
	name := args[0]
	p := &process{out: ts.MkAbs(name + ".out"), err: ts.MkAbs(name + ".err"), done: make(chan struct{})}
	cmd := command(ts, args[1:])
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := os.Create(p.out)
	ts.Check(err)
	defer out.Close()
	errs, err := os.Create(p.err)
	ts.Check(err)
	defer errs.Close()
	cmd.Stdout, cmd.Stderr = out, errs
	ts.Check(cmd.Start())
	p.cmd = cmd
	go func() { _ = cmd.Wait(); close(p.done) }()
	sceneOf(ts).started[name] = p
}

// command is found in the script's PATH, and replaced by what was asked for.
func command(ts *testscript.TestScript, args []string) *exec.Cmd {
	cmd := exec.Command("env", append([]string{"--"}, args...)...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), environ(ts)
	return cmd
}

// environ is the script's environment, which only its own commands know.
func environ(ts *testscript.TestScript) []string {
	var list []string
	for _, name := range []string{"WORK", "PATH", "HOME", "TMPDIR", "MUSTER_STATE_DIR", "TZ", "GOCOVERDIR", "TERM", "NO_COLOR", "MUSTER_SLOTS", "MUSTER_GPUS", "XDG_CONFIG_HOME"} {
		if v := ts.Getenv(name); v != "" {
			list = append(list, name+"="+v)
		}
	}
	return list
}

// signal NAME WHO sends a signal to what start began, or to owner:RUN,
// host:RUN or RUN/TASK.
func signal(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "signal NAME WHO")
	number := unix.SignalNum("SIG" + args[0])
	want(ts, number != 0, "signal NAME WHO, with a name like INT")
	pid := 0
	if p := sceneOf(ts).started[args[1]]; p != nil {
		pid = p.cmd.Process.Pid
	} else {
		eventually(func() bool { pid = sceneOf(ts).of(args[1]); return pid != 0 })
	}
	if pid == 0 {
		ts.Fatalf("there is no process %s", args[1])
	}
	ts.Check(syscall.Kill(pid, number))
}

// ended NAME CODE waits for what start began; stdout and stderr are its own.
func ended(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "ended NAME CODE")
	p := sceneOf(ts).started[args[0]]
	want(ts, p != nil, "ended NAME CODE, of something started")
	if !eventually(func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	}) {
		ts.Fatalf("%s has not ended", args[0])
	}
	delete(sceneOf(ts).started, args[0])
	fmt.Fprint(ts.Stdout(), ts.ReadFile(p.out))
	fmt.Fprint(ts.Stderr(), ts.ReadFile(p.err))
	ws := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	got := ws.ExitStatus()
	if ws.Signaled() {
		got = 128 + int(ws.Signal())
	}
	checkCode(ts, got, args[1])
}

// await FILE [REGEXP] waits until a file is there, and has that in it.
func await(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && (len(args) == 1 || len(args) == 2), "await FILE [REGEXP]")
	re := regexp.MustCompile("(?m)" + strings.Join(args[1:], ""))
	var data []byte
	if !eventually(func() bool {
		var err error
		data, err = os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && re.Match(data)
	}) {
		ts.Fatalf("%s does not come to hold %s:\n%s", args[0], re, data)
	}
}

// until REGEXP COMMAND... repeats a command until its stdout matches.
func until(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) > 1, "until REGEXP COMMAND...")
	re := regexp.MustCompile("(?m)" + args[0])
	var out []byte
	if !eventually(func() bool {
		out, _ = command(ts, args[1:]).Output() // what it says is what counts
		return re.Match(out)
	}) {
		ts.Fatalf("%s never says %s, but\n%s", strings.Join(args[1:], " "), re, out)
	}
	_, _ = ts.Stdout().Write(out)
}

// capture NAME sets a variable to what the last command wrote to stdout.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "capture NAME")
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// alone demands that nothing of the script is running: now, or soon, which is
// enough for what Muster has in the background.
func alone(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && (len(args) == 0 || args[0] == "soon"), "alone [soon]")
	left := sceneOf(ts).traces()
	if len(args) > 0 {
		left = sceneOf(ts).leftovers()
	}
	if len(left) > 0 {
		ts.Fatalf("left behind: %q", left)
	}
}

// alive demands that a process is there, by its name in signal.
func alive(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1, "[!] alive WHO")
	if there := sceneOf(ts).of(args[0]) != 0; there == neg {
		ts.Fatalf("alive %s: %v", args[0], there)
	}
}
