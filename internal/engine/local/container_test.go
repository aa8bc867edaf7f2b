//go:build linux

package local_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster.dev/muster/internal/engine/enginetest"
	"muster.dev/muster/test/suite"
)

const image = "localhost/muster/busybox:1"

// TestPodman passes the suite in podman's containers, TestDocker in docker's.
func TestPodman(t *testing.T) { inContainers(t, "podman", podmanStore) }

func TestDocker(t *testing.T) { inContainers(t, "docker", startDocker) }

// inContainers runs the suite with a runtime that has nothing to do with the
// one that people use on this machine; prepare makes it so.
func inContainers(t *testing.T, runtime string, prepare func(t *testing.T, dir string)) {
	suite.Require(t, runtime, missing())
	dir, err := os.MkdirTemp("/tmp", "muster-"+runtime+"-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("MUSTER_CONTAINER", runtime)
	prepare(t, dir)
	tar := filepath.Join(dir, "image.tar")
	ask(t, filepath.Join("..", "..", "..", "scripts", "container-env"), "--tar", tar)
	ask(t, runtime, "import", "--change", "ENV PATH=/bin:/usr/bin", tar, image)
	enginetest.Run(t, enginetest.Options{
		New: newEngine, Isolation: "none", Host: hostPid, Memory: true,
		Containers: &enginetest.Containers{Image: image, Left: func(run string) []string {
			out := ask(t, runtime, "ps", "--all", "--filter", "label=muster.run="+run, "--format", "container {{.Names}}: {{.Status}}")
			return strings.FieldsFunc(out, func(r rune) bool { return r == '\n' })
		}},
	})
}

// missing says why containers cannot be made here.
func missing() string {
	if os.Geteuid() != 0 {
		return "only root can make containers without further set-up"
	}
	cmd := exec.Command(filepath.Join("..", "..", "..", "scripts", "container-env"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Sprintf("%v: %s", err, bytes.TrimSpace(out))
	}
	return ""
}

// ask runs a program and returns what it writes.
func ask(t *testing.T, argv ...string) string {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(argv, " "), err, errs.String())
	}
	return out.String()
}

// podmanStore gives podman a store of its own. Limits of its own, too: as root
// it raises them, which a root without CAP_SYS_RESOURCE may not. crun refuses to
// work where the two versions of control groups are mounted; runc does not.
func podmanStore(t *testing.T, dir string) {
	var files, procs syscall.Rlimit
	const nproc = 6 // RLIMIT_NPROC, which package syscall does not name
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Getrlimit(nproc, &procs); err != nil {
		t.Fatal(err)
	}
	conf := fmt.Sprintf("[containers]\ndefault_ulimits = [\"nofile=%d:%d\", \"nproc=%d:%d\"]\n[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n",
		min(files.Max, 1<<20), min(files.Max, 1<<20), min(procs.Max, 1<<15), min(procs.Max, 1<<15))
	conf += fmt.Sprintf("tmp_dir = %q\nlock_type = \"file\"\n", dir+"/tmp")
	storage := fmt.Sprintf("[storage]\ndriver = \"overlay\"\ngraphroot = %q\nrunroot = %q\n", dir+"/store", dir+"/run")
	for name, text := range map[string]string{"CONTAINERS_CONF": conf, "CONTAINERS_STORAGE_CONF": storage} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, path)
	}
	t.Cleanup(func() { ask(t, "podman", "system", "reset", "--force") })
}

// startDocker starts a daemon that touches neither the network nor the store of
// the machine's own.
func startDocker(t *testing.T, dir string) {
	t.Setenv("DOCKER_HOST", "unix://"+dir+"/sock")
	t.Setenv("DOCKER_CONFIG", dir)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	daemon := exec.Command("dockerd", "--host", "unix://"+dir+"/sock", "--data-root", dir+"/data", "--exec-root", dir+"/exec",
		"--pidfile", dir+"/pid", "--iptables=false", "--bridge=none", "--group", "root")
	daemon.Stdout, daemon.Stderr = log, log
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Signal(syscall.SIGTERM)
		_ = daemon.Wait()
	})
	for end := time.Now().Add(time.Minute); exec.Command("docker", "version").Run() != nil; time.Sleep(50 * time.Millisecond) {
		if text, _ := os.ReadFile(log.Name()); time.Now().After(end) {
			t.Fatalf("dockerd does not answer: %s", text)
		}
	}
}
