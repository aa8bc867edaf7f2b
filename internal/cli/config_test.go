package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestConfig(t *testing.T) {
	tests := []struct {
		name, file, slots, gpus string
		want                    config
		problem                 string
	}{
		{name: "nothing is set"},
		{name: "an empty file", file: "# later\n"},
		{name: "the file", file: "slots: 8\ngpus: [0, GPU-a1]\n", want: config{8, []string{"0", "GPU-a1"}}},
		{name: "no GPUs at all", file: "gpus: []\n", want: config{0, []string{}}},
		{name: "variables win", file: "slots: 8\ngpus: [0, 1]\n", slots: "2", gpus: "3,4", want: config{2, []string{"3", "4"}}},
		{name: "a variable for none", file: "gpus: [0]\n", gpus: "none", want: config{0, []string{}}},
		{name: "an unknown field", file: "slot: 8\n", problem: `config.yaml:1:1: slot: unknown field; did you mean "slots"?`},
		{name: "given twice", file: "slots: 1\nslots: 2\n", problem: "config.yaml:2:1: slots: given twice"},
		{name: "a word for a number", file: "slots: many\n", problem: "config.yaml:1:8: slots: want a number of tasks"},
		{name: "below zero", file: "slots: -1\n", problem: "want a number of tasks"},
		{name: "a number for a list", file: "gpus: 2\n", problem: "config.yaml:1:7: gpus: want a list of devices"},
		{name: "a device twice", file: "gpus: [0, 0]\n", problem: "0 is there twice"},
		{name: "a list of fields", file: "- slots\n", problem: "want a map of fields"},
		{name: "no YAML", file: "slots: [\n", problem: "config.yaml: "},
		{name: "a bad variable", slots: "two", problem: "MUSTER_SLOTS=two: is not a number of tasks"},
		{name: "bad devices", gpus: "0,,1", problem: `MUSTER_GPUS=0,,1: "" is no device`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.file != "" {
				writeConfig(t, dir, tt.file)
			}
			env := map[string]string{"XDG_CONFIG_HOME": dir, "MUSTER_SLOTS": tt.slots, "MUSTER_GPUS": tt.gpus}
			got, err := readConfig(func(name string) string { return env[name] })
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Errorf("%v, want %s", err, tt.problem)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

func writeConfig(t *testing.T, dir, text string) {
	t.Helper()
	path := filepath.Join(dir, "muster", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
