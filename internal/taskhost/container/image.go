//go:build linux

package container

import (
	"encoding/json"
	"fmt"
	"strings"

	"muster.dev/muster/internal/engine"
)

// An ImageConfig is what an image says of itself.
type ImageConfig struct {
	Entrypoint []string
	Cmd        []string
	WorkingDir string
	Env        []string
}

// Variable is one that the image sets; "" if it does not.
func (c ImageConfig) Variable(name string) string { return lookup(c.Env, name) }

// InspectCommand asks for an image's config; it fails when the image is not on
// this machine.
func InspectCommand(c *engine.Container) []string {
	return []string{c.Runtime.Path, "image", "inspect", "--format", "{{json .Config}}", c.Image}
}

// ParseImage reads the answer.
func ParseImage(answer []byte) (ImageConfig, error) {
	var c ImageConfig
	if err := json.Unmarshal(answer, &c); err != nil {
		return c, fmt.Errorf("what the runtime says of the image is not understood: %w", err)
	}
	return c, nil
}

// RemoveCommand ends and removes a container, whatever it is doing.
func RemoveCommand(r engine.Runtime, name string) []string {
	return []string{r.Path, "rm", "--force", "--volumes", name}
}

// Gone says whether a RemoveCommand has left nothing, given how it ended.
func Gone(ok bool, stderr string) bool {
	return ok || strings.Contains(strings.ToLower(stderr), "no such container") || strings.Contains(stderr, "no container with name")
}

// Complaint is what a runtime said last, without what it puts before it.
func Complaint(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if line == "" || strings.HasPrefix(line, "See '") || strings.HasPrefix(line, "Run '") || strings.HasPrefix(line, "time=") {
			continue
		}
		for _, prefix := range []string{"docker: ", "Error: ", "Error response from daemon: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		return strings.TrimSuffix(line, ".")
	}
	return ""
}
