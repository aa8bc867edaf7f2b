//go:build linux

package taskhost

import (
	"encoding/json"
	"os"
	"path/filepath"

	"muster.dev/muster/internal/job"
)

// Tell tells the host of a run that a process of an instance is about to end
// with a code. One that stays is ended shortly after, and counts as if it had.
func Tell(runDir string, i job.Instance, pid, code int) error {
	line, err := json.Marshal(hookRecord{Pid: pid, Task: i.String(), Stage: "teardown", Code: code})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(runDir, HookName), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(line, '\n'))
	return err
}
