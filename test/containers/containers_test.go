//go:build linux

package containers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const root = "../.."

// binary is the muster under test.
var binary string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "muster-containers-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "muster")
	build := exec.Command("go", "build", "-o", binary, "muster.dev/muster/cmd/muster")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err == nil {
		err = os.Chmod(dir, 0o755) // another user runs it, too
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "build muster: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func TestOnPodman(t *testing.T) { onRuntime(t, Start(t, "podman")) }

func TestOnDocker(t *testing.T) { onRuntime(t, Start(t, "docker")) }

func onRuntime(t *testing.T, r *Runtime) {
	for name, check := range map[string]func(*testing.T, *Runtime){
		"the example runs as it is":              example,
		"everything that a job can ask":          everything,
		"args alone keep the entrypoint":         entrypoint,
		"an image that is not there":             noImage,
		"privileged has to be allowed":           privileged,
		"a registry that asks who one is":        registryLogin,
		"nothing outlives the last who knows it": orphaned,
	} {
		t.Run(name, func(t *testing.T) { check(t, r) })
	}
	if r.Name == "docker" {
		t.Run("a plain user's files are the user's", func(t *testing.T) { plainUser(t, r) })
	}
}

// A place is a folder where one test runs muster.
type place struct {
	t     *testing.T
	state string
	work  string
	uid   uint32
}

func newPlace(t *testing.T) *place {
	p := &place{t: t, state: t.TempDir(), work: t.TempDir()}
	t.Cleanup(func() { // whatever has failed, no task may go on
		_, _, _ = p.muster("stop", "--force", "--all")
	})
	return p
}

// muster runs the program and returns its output and exit code.
func (p *place) muster(args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = p.work
	cmd.Env = append(os.Environ(), "MUSTER_STATE_DIR="+p.state, "LEAK=from the caller")
	if p.uid != 0 {
		cmd.Env = append(cmd.Env, "HOME="+p.work)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: p.uid, Gid: p.uid}}
	}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the code says it
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// want runs muster and checks how it ends.
func (p *place) want(code int, words string, args ...string) string {
	p.t.Helper()
	out, errs, got := p.muster(args...)
	if got != code || !strings.Contains(out+errs, words) {
		p.t.Fatalf("muster %s: exit %d, want %d and %q\n%s%s", strings.Join(args, " "), got, code, words, out, errs)
	}
	return out
}

func (p *place) write(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.work, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *place) read(pattern string) string {
	p.t.Helper()
	found, _ := filepath.Glob(pattern)
	if len(found) != 1 {
		p.t.Fatalf("%s is %v", pattern, found)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

func example(t *testing.T, _ *Runtime) {
	p := newPlace(t)
	dir, err := filepath.Abs(root + "/examples/container-plain")
	if err != nil {
		t.Fatal(err)
	}
	p.want(125, "--mount data=DIR", "run", "-f", dir+"/muster.yaml")
	p.want(0, "worker-1 runs as 0 in "+p.work, "run", "-f", dir+"/muster.yaml", "--mount", "data="+dir)
	for _, task := range []string{"worker-0", "worker-1"} {
		if got := strings.TrimSpace(p.read(p.state + "/runs/*/outputs/" + task)); got != "3" {
			t.Errorf("%s counted %q lines", task, got)
		}
	}
}

// everything is a job that checks, from inside, what it was promised.
func everything(t *testing.T, _ *Runtime) {
	p := newPlace(t)
	for _, dir := range []string{"data", "logs"} {
		if err := os.Mkdir(filepath.Join(p.work, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.write("key", "s3cret")
	p.write("input.txt", "given")
	p.write("data/x", "data")
	p.write("job.yaml", `
name: all
framework: plain
image: `+Image+`
inputs: [{name: in, from: input.txt, env: IN}]
outputs: [{name: model, path: /mnt/logs/model, env: MODEL}]
secrets:
  TOKEN: {env: TOKEN_OUTSIDE}
  key: {file: key, as: /run/secrets/key}
volumes: [./data:/mnt/data:ro, logs:/mnt/logs]
resources: {shm: 16Mi, memory: 64Mi, cpus: 1}
env: {LINES: "one\ntwo", QUOTED: "'a' \"b\" #c"}
run: |
  [ "$(cat "$IN")" = given ]
  [ "$(rev < /run/secrets/key)" = terc3s ]
  [ "$(echo "$TOKEN" | rev)" = nek0t ]
  [ "$(cat /mnt/data/x)" = data ]
  ! touch /mnt/data/y 2>/dev/null
  [ "$(printf 'one\ntwo')" = "$LINES" ]
  [ "$QUOTED" = "'a' \"b\" #c" ]
  [ -z "${LEAK:-}" ]
  [ "$(df -m /dev/shm | tail -1 | tr -s ' ' | cut -d ' ' -f 2)" = 16 ]
  [ -e key ]
  echo trained > "$MODEL"
  echo kept > "$MUSTER_CHECKPOINT_DIR/last"
  echo everything is there
`)
	t.Setenv("TOKEN_OUTSIDE", "t0ken")
	p.want(125, "--mount logs=DIR", "run", "-f", "job.yaml")
	p.want(0, "everything is there", "run", "-f", "job.yaml", "--mount", "logs=logs")
	if p.read(p.work+"/logs/model") != "trained\n" || p.read(p.state+"/runs/*/outputs/model") != "trained\n" || p.read(p.state+"/runs/*/checkpoint/last") != "kept\n" {
		t.Error("an output is not as it was written")
	}
	out, _, _ := p.muster("get", "all", "-o", "json")
	if strings.Contains(out, "t0ken") || strings.Contains(out, "s3cret") || out == "" {
		t.Errorf("what is secret is shown, or nothing is: %s", out)
	}
	p.write("direct.yaml", "name: direct\nframework: plain\nimage: none/such\nrun: echo on $LEAK\n")
	p.want(0, "on from the caller", "run", "-f", "direct.yaml", "--container", "never")
}

func entrypoint(t *testing.T, r *Runtime) {
	p := newPlace(t)
	tar := filepath.Join(r.Dir, "image.tar")
	r.Import(tar, "localhost/muster/entry:1", `ENTRYPOINT ["/bin/echo","entered"]`, `CMD ["alone"]`, "WORKDIR /etc")
	p.write("args.yaml", "name: args\nframework: plain\nimage: localhost/muster/entry:1\nargs: [with, args]\n")
	p.want(0, "| entered with args\n", "run", "-f", "args.yaml")
	p.write("none.yaml", "name: none\nframework: plain\nimage: localhost/muster/entry:1\n")
	p.want(0, "| entered alone\n", "run", "-f", "none.yaml")
	p.write("own.yaml", "name: own\nframework: plain\nimage: localhost/muster/entry:1\ncommand: [/bin/pwd]\n")
	p.want(0, "| /etc\n", "run", "-f", "own.yaml")
	p.want(127, "no-such-program: not found in PATH", "run", "--image", "localhost/muster/entry:1", "--", "no-such-program")
}

func noImage(t *testing.T, r *Runtime) {
	p := newPlace(t)
	p.write("job.yaml", "name: none\nframework: plain\nimage: {name: \"localhost/muster/none:1\", pull: never}\nrun: \"true\"\n")
	p.want(125, "the image localhost/muster/none:1 is not on this machine, and image.pull is never", "run", "-f", "job.yaml")
	p.want(125, "the image localhost/muster/none:1 cannot be had: "+r.Name+": ", "run", "--image", "localhost/muster/none:1", "--", "true")
}

func privileged(t *testing.T, _ *Runtime) {
	p := newPlace(t)
	p.write("job.yaml", "name: may\nframework: plain\nimage: "+Image+"\ncontainer: {options: [--hostname=box]}\nrun: hostname\n")
	p.want(125, "--allow-privileged", "run", "-f", "job.yaml")
	p.write("net.yaml", "name: may\nframework: plain\nimage: "+Image+"\ncontainer: {options: [--hostname=box], network: none}\nrun: hostname\n")
	p.want(0, "| box\n", "run", "-f", "net.yaml", "--allow-privileged")
}

// orphaned kills everybody who could clean up: the containers end by
// themselves.
func orphaned(t *testing.T, r *Runtime) {
	p := newPlace(t)
	id := strings.TrimSpace(p.want(0, "", "run", "-d", "--name", "left", "-n", "2", "--image", Image, "--", "sh", "-c", "touch up.$MUSTER_TASK; sleep 1000"))
	await(t, "the tasks", func() bool {
		up, _ := filepath.Glob(p.work + "/up.*")
		return len(up) == 2
	})
	await(t, "the deaths of owner and host", func() bool {
		for _, pid := range named(id, "own", "taskhost") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return len(named(id, "own", "taskhost")) == 0
	})
	await(t, "the end of the containers", func() bool { return len(r.Left(id)) == 0 })
	p.muster("stop", id)
	p.want(0, "", "rm", id)
}

// named are the processes of ours for a run.
func named(run string, commands ...string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		args := strings.Split(string(line), "\x00")
		for _, c := range commands {
			if len(args) > 2 && args[0] == binary && args[1] == c && filepath.Base(args[2]) == run {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

// plainUser may talk to docker, and is nobody special otherwise.
func plainUser(t *testing.T, r *Runtime) {
	const uid = 65534
	p := newPlace(t)
	p.uid = uid
	for _, dir := range []string{r.Dir, filepath.Join(r.Dir, "sock"), filepath.Dir(p.work)} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for dir := p.work; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{p.work, p.state} {
		if err := os.Chown(dir, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	p.want(0, "| 65534 /tmp 65534\n", "run", "--image", Image, "--", "sh", "-c", "echo $(id -u) $HOME $USER; touch mine")
	st, err := os.Stat(filepath.Join(p.work, "mine"))
	if err != nil || st.Sys().(*syscall.Stat_t).Uid != uid {
		t.Errorf("the file is not the caller's: %v %v", st, err)
	}
}
