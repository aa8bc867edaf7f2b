package cli

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"muster.dev/muster/internal/engine/local"
	"muster.dev/muster/internal/store/sqlite"
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
	found := []finding{
		{"muster", true, fmt.Sprintf("%s, %s/%s", version(), runtime.GOOS, runtime.GOARCH)},
		{"machine", true, fmt.Sprintf("%d cores", runtime.NumCPU())},
		examineState(dir),
	}
	found = append(found, examineIsolation(exe)...)
	return append(found, examineCgroups(), examinePython()), nil
}

func examineState(dir string) finding {
	free, err := process.FreeBytes(dir)
	if err != nil {
		return finding{"state", false, err.Error()}
	}
	kind := sqlite.KindOf(dir)
	f := finding{"state", kind == sqlite.Local, fmt.Sprintf("%s, %s free", dir, ui.Bytes(free))}
	if !f.Good {
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
