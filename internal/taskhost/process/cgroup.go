//go:build linux

package process

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Cgroup limits one task and counts what the kernel ended in it for want of
// memory. A nil Cgroup is none: every method does nothing.
type Cgroup struct {
	dirs   []string // one (v2), or one per controller (v1)
	v2     bool
	fd     int
	memory string // the folder of the memory controller
}

// NewCgroup makes a group for a task that has limits. It returns nil for a task
// without limits, and where this machine lets us make none.
func NewCgroup(run, task string, memory int64, cpus float64) (*Cgroup, error) {
	if memory == 0 && cpus == 0 {
		return nil, nil
	}
	leaf := "muster-" + run + "-" + strings.ReplaceAll(task, "/", "-")
	if root := cgroupMount("cgroup2", "memory"); root != "" {
		return newV2(filepath.Join(root, leaf), memory, cpus)
	}
	return newV1(leaf, memory, cpus)
}

func newV2(dir string, memory int64, cpus float64) (*Cgroup, error) {
	if os.Mkdir(dir, 0o755) != nil {
		return nil, nil
	}
	g := &Cgroup{dirs: []string{dir}, v2: true, memory: dir}
	if memory > 0 {
		g.set("memory.max", strconv.FormatInt(memory, 10))
		g.set("memory.swap.max", "0")
	}
	if cpus > 0 {
		g.set("cpu.max", fmt.Sprintf("%d 100000", int64(cpus*100000)))
	}
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		g.fd = fd
	}
	return g, nil
}

func newV1(leaf string, memory int64, cpus float64) (*Cgroup, error) {
	g := &Cgroup{}
	for controller, wanted := range map[string]bool{"memory": memory > 0, "cpu": cpus > 0} {
		root := cgroupMount("cgroup", controller)
		if !wanted || root == "" || os.Mkdir(filepath.Join(root, leaf), 0o755) != nil {
			continue
		}
		dir := filepath.Join(root, leaf)
		g.dirs = append(g.dirs, dir)
		if controller == "memory" {
			g.memory = dir
			write(dir, "memory.limit_in_bytes", strconv.FormatInt(memory, 10))
			write(dir, "memory.memsw.limit_in_bytes", strconv.FormatInt(memory, 10))
		} else {
			write(dir, "cpu.cfs_period_us", "100000")
			write(dir, "cpu.cfs_quota_us", strconv.FormatInt(int64(cpus*100000), 10))
		}
	}
	if len(g.dirs) == 0 {
		return nil, nil
	}
	return g, nil
}

func write(dir, name, value string) { _ = os.WriteFile(filepath.Join(dir, name), []byte(value), 0) }

func (g *Cgroup) set(name, value string) { write(g.dirs[0], name, value) }

// cgroupMount finds where a controller is mounted.
func cgroupMount(kind, controller string) string {
	f, err := os.Open("/proc/mounts")
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		w := strings.Fields(lines.Text())
		if len(w) < 4 || w[2] != kind {
			continue
		}
		if kind == "cgroup2" {
			b, _ := os.ReadFile(filepath.Join(w[1], "cgroup.subtree_control"))
			if has(strings.Fields(string(b)), controller) {
				return w[1]
			}
		} else if has(strings.Split(w[3], ","), controller) {
			return w[1]
		}
	}
	return ""
}

func has(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// FD is the folder to start a process in, 0 where it must be added afterwards.
func (g *Cgroup) FD() int {
	if g == nil {
		return 0
	}
	return g.fd
}

// Add puts a process that has just been started into the group.
func (g *Cgroup) Add(pid int) {
	if g == nil || g.v2 {
		return
	}
	for _, d := range g.dirs {
		write(d, "cgroup.procs", strconv.Itoa(pid))
	}
}

// OOMKills is how many processes of the group the kernel ended for want of memory.
func (g *Cgroup) OOMKills() int {
	if g == nil || g.memory == "" {
		return 0
	}
	name := "memory.oom_control"
	if g.v2 {
		name = "memory.events"
	}
	b, _ := os.ReadFile(filepath.Join(g.memory, name))
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(v))
			return n
		}
	}
	return 0
}

// Kill ends every process of the group.
func (g *Cgroup) Kill() {
	if g == nil {
		return
	}
	for _, d := range g.dirs {
		b, _ := os.ReadFile(filepath.Join(d, "cgroup.procs"))
		for _, f := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(f); err == nil {
				Kill(syscall.SIGKILL, pid)
			}
		}
	}
}

// Remove takes the empty group away.
func (g *Cgroup) Remove() {
	if g == nil {
		return
	}
	if g.fd != 0 {
		_ = unix.Close(g.fd)
	}
	for _, d := range g.dirs {
		_ = os.Remove(d)
	}
}

// RemoveCgroups takes away what a killed host left of its run's groups.
func RemoveCgroups(run string) {
	for _, root := range []string{cgroupMount("cgroup2", "memory"), cgroupMount("cgroup", "memory"), cgroupMount("cgroup", "cpu")} {
		if root == "" {
			continue
		}
		left, _ := filepath.Glob(filepath.Join(root, "muster-"+run+"-*"))
		for _, d := range left {
			_ = os.Remove(d)
		}
	}
}

// CgroupRoot is where we may make groups that limit memory, "" for nowhere.
func CgroupRoot() string {
	for _, root := range []string{cgroupMount("cgroup2", "memory"), cgroupMount("cgroup", "memory")} {
		if root != "" && unix.Access(root, unix.W_OK) == nil {
			return root
		}
	}
	return ""
}
