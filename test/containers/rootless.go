//go:build linux

package containers

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	account "os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"muster.dev/muster/test/suite"
)

// tarVar is where a test that another user runs finds the image: it may not be
// allowed to read the scripts.
const tarVar = "MUSTER_TEST_IMAGE_TAR"

// RootlessUser returns a user who may make containers without being root, for
// whom Start works in this test's children.
func RootlessUser(t *testing.T) uint32 {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make another user; the other tests run as this one")
	}
	suite.Require(t, "podman", missing())
	out, err := exec.Command(script(), "--user").CombinedOutput()
	uid, perr := strconv.ParseUint(strings.TrimSpace(string(out)), 10, 32)
	if err != nil || perr != nil {
		suite.Require(t, "podman", fmt.Sprintf("%v: %s", err, bytes.TrimSpace(out)))
	}
	tar := filepath.Join(t.TempDir(), "image.tar")
	for dir := filepath.Dir(tar); dir != os.TempDir() && err == nil; dir = filepath.Dir(dir) {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(script(), "--tar", tar).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv(tarVar, tar)
	return uint32(uid)
}

// missingRootless says why this user cannot make containers.
func missingRootless() string {
	me, err := account.Current()
	if err != nil {
		return err.Error()
	}
	if ids, err := os.ReadFile("/etc/subuid"); err != nil || !strings.Contains("\n"+string(ids), "\n"+me.Username+":") {
		return me.Username + " has no range of ids in /etc/subuid"
	}
	if os.Getenv(tarVar) == "" && exec.Command("busybox").Run() != nil {
		return "there is no busybox to make an image of"
	}
	return ""
}

// prepareRootless makes what a login would have made.
func (r *Runtime) prepareRootless() {
	r.t.Helper()
	dir := filepath.Join(r.Dir, "login")
	if err := os.Mkdir(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	r.t.Setenv("XDG_RUNTIME_DIR", dir)
	r.t.Setenv("HOME", dir)
	r.t.Cleanup(r.endRootless) // while these are still set
}

// endRootless removes what belongs to users that only exist in containers, and
// ends the process that podman keeps for the next of its commands.
func (r *Runtime) endRootless() {
	r.ask("podman", "system", "reset", "--force")
	for _, file := range []string{r.Dir + "/tmp/pause.pid", r.Dir + "/login/libpod/tmp/pause.pid"} {
		text, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
