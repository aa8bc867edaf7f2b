//go:build linux

package chaos

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// steps is what every task of a plan's job does.
func (p Plan) steps(b *bed) []string {
	rec := b.record(p.Name)
	s := []string{trainerExe, "record=" + rec + ",start", "lock=" + filepath.Join(b.dir, p.Name+".lock")}
	if p.Framework == "mxnet" {
		s = append(s, "join")
	}
	if p.Leaves != "" {
		s = append(s, "only=worker-1", p.Leaves)
	}
	s = append(s, fmt.Sprintf("rate=%d", p.Rate))
	for n := range p.Pieces {
		s = append(s, fmt.Sprintf("bytes=%d,$MUSTER_TASK.$MUSTER_ATTEMPT.%d", p.Lines*80, n+1), fmt.Sprintf("record=%s,w%d", rec, n+1))
	}
	if p.Fails {
		s = append(s, "only=worker-0,1", "exit=3")
	}
	s = append(s, "record="+rec+",end")
	if p.GPU {
		s = append([]string{"/bin/sh", "-c", holdGPU, b.dir}, s...)
	}
	return s
}

// holdGPU locks the file of a task's GPU for as long as the task or a child of
// it lives, and writes down when somebody else has it.
const holdGPU = `exec 9>>"$0/gpu.$CUDA_VISIBLE_DEVICES"
flock -n 9 || { echo "$MUSTER_RUN/$MUSTER_ATTEMPT: GPU $CUDA_VISIBLE_DEVICES is in use" >>"$0/conflicts"; exit 99; }
exec "$@"`

// jobFile writes the plan's job file; more are lines to add.
func (b *bed) jobFile(p Plan, more ...string) (string, error) {
	command, err := json.Marshal(p.steps(b)) // JSON is YAML
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("name: %s\nframework: %s\nworkers: %d\n", p.Name, p.Framework, p.Workers)
	if p.Servers > 0 {
		text += fmt.Sprintf("servers: %d\n", p.Servers)
	}
	text += fmt.Sprintf("restart: {limit: %d, backoff: 50ms}\nstop: {grace: 400ms}\nisolation: %s\ncommand: %s\n", p.Budget, p.Isolation, command)
	text += fmt.Sprintf("ports: [0]\nteardown: %s lock=%s sleep=20ms\n", trainerExe, filepath.Join(b.dir, p.Name+".lock"))
	if p.Memory {
		text += "resources: {memory: 256Mi}\n"
	}
	if p.GPU {
		text += "resources: {gpus: 1}\n"
	}
	for _, line := range more {
		text += line + "\n"
	}
	path := filepath.Join(b.dir, p.Name+".yaml")
	return path, os.WriteFile(path, []byte(text), 0o644)
}
