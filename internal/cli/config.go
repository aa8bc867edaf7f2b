package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"muster.dev/muster/internal/problem"
)

// A config is what a machine's user sets once: what may be given to runs.
type config struct {
	Slots int      // how many tasks may run at a time, of all runs; 0 for any number
	GPUs  []string // instead of those that are found, unless it is nil
}

// configPath is where the configuration is, if there is any.
func configPath(env func(string) string) string {
	dir := env("XDG_CONFIG_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "muster", "config.yaml")
}

// readConfig reads the configuration file, and MUSTER_SLOTS and MUSTER_GPUS
// over it.
func readConfig(env func(string) string) (config, error) {
	var c config
	path := configPath(env)
	data, err := os.ReadFile(path)
	switch {
	case path == "", errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return c, problem.Wrap(problem.Refused, err, "read the configuration")
	default:
		if c, err = parseConfig(path, data); err != nil {
			return c, err
		}
	}
	if text := env("MUSTER_SLOTS"); text != "" {
		if c.Slots, err = strconv.Atoi(text); err != nil || c.Slots < 0 {
			return c, problem.New(problem.Invalid, "MUSTER_SLOTS=%s: is not a number of tasks", text)
		}
	}
	if text := env("MUSTER_GPUS"); text != "" {
		if c.GPUs, err = parseGPUs(strings.Split(text, ",")); err != nil {
			return c, problem.Wrap(problem.Invalid, err, "MUSTER_GPUS=%s", text).WithHint("0,1 or none")
		}
	}
	return c, nil
}

// parseGPUs checks a list of devices; none stands for an empty one.
func parseGPUs(list []string) ([]string, error) {
	if len(list) == 1 && list[0] == "none" {
		return []string{}, nil
	}
	for i, g := range list {
		if g == "" || strings.ContainsAny(g, ", \t\n") {
			return nil, fmt.Errorf("%q is no device", g)
		}
		if slices.Contains(list[:i], g) {
			return nil, fmt.Errorf("%s is there twice", g)
		}
	}
	return append([]string{}, list...), nil
}

var configFields = []string{"slots", "gpus"}

// parseConfig reads a configuration file, strictly: what it does not know is
// wrong, and said with its place.
func parseConfig(path string, data []byte) (config, error) {
	var c config
	var doc yaml.Node
	err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&doc)
	if errors.Is(err, io.EOF) {
		return c, nil
	}
	if err != nil {
		return c, &problem.Error{Kind: problem.Invalid, Where: path, Text: err.Error()}
	}
	root := doc.Content[0]
	var list problem.List
	bad := func(n *yaml.Node, field, text string) {
		list = append(list, &problem.Error{Kind: problem.Invalid, Where: fmt.Sprintf("%s:%d:%d", path, n.Line, n.Column), Field: field, Text: text})
	}
	if root.Kind != yaml.MappingNode {
		bad(root, "", "want a map of fields: "+strings.Join(configFields, ", "))
		return c, list.Err()
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		if seen[k.Value] {
			bad(k, k.Value, "given twice")
		}
		seen[k.Value] = true
		c.set(k, v, bad)
	}
	return c, list.Err()
}

func (c *config) set(k, v *yaml.Node, bad func(n *yaml.Node, field, text string)) {
	switch k.Value {
	case "slots":
		if v.Decode(&c.Slots) != nil || v.Tag != "!!int" || c.Slots < 0 {
			bad(v, "slots", "want a number of tasks, 0 for any")
		}
	case "gpus":
		var list []string
		if v.Kind != yaml.SequenceNode || v.Decode(&list) != nil {
			bad(v, "gpus", "want a list of devices, such as [0, 1]")
			return
		}
		gpus, err := parseGPUs(list)
		if err != nil {
			bad(v, "gpus", err.Error())
		}
		c.GPUs = gpus
	default:
		text := "unknown field"
		if near := problem.Nearest(k.Value, configFields); near != "" {
			text += fmt.Sprintf("; did you mean %q?", near)
		}
		bad(k, k.Value, text)
	}
}
