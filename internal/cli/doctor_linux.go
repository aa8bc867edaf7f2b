package cli

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"muster.dev/muster/internal/engine/local"
	"muster.dev/muster/internal/store/sqlite"
	"muster.dev/muster/internal/taskhost/container"
	"muster.dev/muster/internal/taskhost/process"
	"muster.dev/muster/internal/ui"
)

func examine(a *app) ([]finding, error) {
	dir, err := stateDir(a.env)
	if err == nil {
		err = makeStateDir(dir)
	}
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c, err := readConfig(a.env)
	if err != nil {
		return nil, err
	}
	found := []finding{
		{"muster", true, fmt.Sprintf("%s, %s/%s", version(), runtime.GOOS, runtime.GOARCH)},
		examineMachine(c),
		examineState(dir),
	}
	found = append(found, examineIsolation(exe)...)
	return append(found, examineCgroups(), examineGPUs(c), examineContainers(exe), examinePython()), nil
}

func examineMachine(c config) finding {
	text := fmt.Sprintf("%d cores, %s of memory; ", runtime.NumCPU(), ui.Bytes(process.TotalMemory()))
	if c.Slots == 0 {
		return finding{"machine", true, text + "any number of tasks at a time"}
	}
	return finding{"machine", true, text + counted(c.Slots, "slot") + ": further tasks wait"}
}

// examineGPUs: a machine without them is none the worse.
func examineGPUs(c config) finding {
	gpus := c.GPUs
	if gpus == nil {
		gpus = process.GPUs()
	}
	if len(gpus) == 0 {
		return finding{"gpus", true, "none: jobs that ask for one are refused, --gpus 0 tries them on the CPU"}
	}
	return finding{"gpus", true, strings.Join(gpus, ", ") + ": each given to one run at a time"}
}

func examineContainers(exe string) finding {
	r, err := container.Find(os.Environ(), exe)
	if err != nil {
		return finding{"containers", false, err.Error()}
	}
	text := r.Kind + " at " + r.Path
	if r.Rootless {
		text += ", rootless"
	}
	return finding{"containers", true, text}
}

// little is the room below which a run may well fail for want of it.
const little = 1 << 30

func examineState(dir string) finding {
	free, err := process.FreeBytes(dir)
	if err != nil {
		return finding{"state", false, err.Error()}
	}
	kind := sqlite.KindOf(dir)
	f := finding{"state", kind == sqlite.Local, fmt.Sprintf("%s, %s free", dir, ui.Bytes(free))}
	if free < little {
		f.Good = false
		f.Text += "; that is little for logs and outputs: muster prune makes room, MUSTER_STATE_DIR names another disk"
	}
	if kind != sqlite.Local {
		f.Text += fmt.Sprintf("; it is on a network file system (%s), where runs are slower to record: MUSTER_STATE_DIR names another", kind)
	}
	return f
}

// examineIsolation starts a task host in every way there is.
func examineIsolation(exe string) []finding {
	var found []finding
	for _, p := range local.Probe(exe) {
		if p.Err != nil {
			found = append(found, finding{"isolation", false, fmt.Sprintf("%s: not here: %v", p.Isolation, p.Err)})
			continue
		}
		text := string(p.Isolation) + ": works"
		if p.Strong {
			text += "; if Muster is killed, the kernel ends every task"
		} else {
			text += "; if Muster is killed, the next command ends what is left"
		}
		found = append(found, finding{"isolation", true, text})
	}
	return found
}

func examineCgroups() finding {
	if root := process.CgroupRoot(); root != "" {
		return finding{"cgroups", true, "memory and CPU limits are enforced under " + root}
	}
	return finding{"cgroups", false, "none that we may use: resources.memory is not enforced"}
}

func examinePython() finding {
	path, err := exec.LookPath("python3")
	if err != nil {
		return finding{"python", false, "no python3 in PATH"}
	}
	out, err := exec.Command(path, "--version").CombinedOutput()
	if err != nil {
		return finding{"python", false, fmt.Sprintf("%s: %v", path, err)}
	}
	return finding{"python", true, strings.TrimSpace(string(out)) + " at " + path}
}
