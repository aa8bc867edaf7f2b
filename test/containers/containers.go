//go:build linux

// Package containers gives tests a container runtime that has nothing to do
// with the one that people use on this machine, and runs the examples that need
// one, and what else takes the whole program, on podman and on docker.
package containers

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster.dev/muster/test/suite"
)

// Image is a shell and little else; scripts/container-env makes it.
const Image = "localhost/muster/busybox:1"

// A Runtime is podman or docker, with a store of its own.
type Runtime struct {
	Name string
	Dir  string
	t    *testing.T
}

// Start makes the runtime called name the one that muster finds in this test,
// with the image in its store.
func Start(t *testing.T, name string) *Runtime {
	t.Helper()
	suite.Require(t, name, missing())
	dir, err := os.MkdirTemp("/tmp", "muster-"+name+"-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	r := &Runtime{name, dir, t}
	t.Cleanup(func() {
		unmountBelow(dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("left behind: %v", err)
		}
	})
	t.Setenv("MUSTER_CONTAINER", name)
	if name == "podman" {
		r.configure()
	} else {
		r.serve()
	}
	r.Import(r.tar(), Image, "ENV PATH=/bin:/usr/bin")
	return r
}

// tar is the image as a file.
func (r *Runtime) tar() string {
	if path := os.Getenv(tarVar); path != "" {
		return path
	}
	path := filepath.Join(r.Dir, "image.tar")
	r.ask(script(), "--tar", path)
	return path
}

// Import makes an image of a tar.
func (r *Runtime) Import(tar, image string, changes ...string) {
	r.t.Helper()
	args := []string{r.Name, "import"}
	for _, c := range changes {
		args = append(args, "--change", c)
	}
	r.ask(append(args, tar, image)...)
}

// Left returns the containers of a run.
func (r *Runtime) Left(run string) []string {
	r.t.Helper()
	out := r.ask(r.Name, "ps", "--all", "--filter", "label=muster.run="+run, "--format", "container {{.Names}}: {{.Status}}")
	return strings.FieldsFunc(out, func(c rune) bool { return c == '\n' })
}

// unmountBelow takes away what a runtime that has ended leaves mounted.
func unmountBelow(dir string) {
	table, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], dir+"/") {
			_ = syscall.Unmount(f[1], syscall.MNT_DETACH)
		}
	}
}

func script() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "scripts", "container-env")
}

// missing says why containers cannot be made here.
func missing() string {
	if os.Geteuid() != 0 {
		return missingRootless()
	}
	if out, err := exec.Command(script()).CombinedOutput(); err != nil {
		return fmt.Sprintf("%v: %s", err, bytes.TrimSpace(out))
	}
	return ""
}

// ask runs a program and returns what it writes.
func (r *Runtime) ask(argv ...string) string {
	r.t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		r.t.Errorf("%s: %v\n%s", strings.Join(argv, " "), err, errs.String())
	}
	return out.String()
}

// configure gives podman a store of its own. Limits of its own, too: as root it
// raises them, which a root without CAP_SYS_RESOURCE may not. crun refuses to
// work where both versions of control groups are mounted; runc does not.
func (r *Runtime) configure() {
	r.t.Helper()
	var limits []string
	for name, number := range map[string]int{"nofile": syscall.RLIMIT_NOFILE, "nproc": 6} { // package syscall does not name the second
		var l syscall.Rlimit
		if err := syscall.Getrlimit(number, &l); err != nil {
			r.t.Fatal(err)
		}
		most := min(l.Max, 1<<15)
		limits = append(limits, fmt.Sprintf("\"%s=%d:%d\"", name, most, most))
	}
	conf := fmt.Sprintf("[containers]\ndefault_ulimits = [%s]\n[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n"+
		"tmp_dir = %q\nlock_type = \"file\"\n", strings.Join(limits, ", "), r.Dir+"/tmp")
	storage := fmt.Sprintf("[storage]\ndriver = \"overlay\"\ngraphroot = %q\nrunroot = %q\n", r.Dir+"/store", r.Dir+"/run")
	for name, text := range map[string]string{"CONTAINERS_CONF": conf, "CONTAINERS_STORAGE_CONF": storage} {
		path := filepath.Join(r.Dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			r.t.Fatal(err)
		}
		r.t.Setenv(name, path)
	}
	if os.Geteuid() != 0 {
		r.prepareRootless()
	}
}

// serve starts a docker daemon that touches neither the network nor the store
// of the machine's own.
func (r *Runtime) serve() {
	r.t.Helper()
	socket := filepath.Join(r.Dir, "sock")
	r.t.Setenv("DOCKER_HOST", "unix://"+socket)
	r.t.Setenv("DOCKER_CONFIG", r.Dir)
	log, err := os.Create(filepath.Join(r.Dir, "log"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer log.Close()
	daemon := exec.Command("dockerd", "--host", "unix://"+socket, "--data-root", r.Dir+"/data", "--exec-root", r.Dir+"/exec",
		"--pidfile", r.Dir+"/pid", "--iptables=false", "--bridge=none", "--group", "root")
	daemon.Stdout, daemon.Stderr = log, log
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := daemon.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = daemon.Process.Signal(syscall.SIGTERM)
		_ = daemon.Wait()
	})
	for end := time.Now().Add(time.Minute); exec.Command("docker", "version").Run() != nil; time.Sleep(50 * time.Millisecond) {
		if text, _ := os.ReadFile(log.Name()); time.Now().After(end) {
			r.t.Fatalf("dockerd does not answer: %s", text)
		}
	}
}
