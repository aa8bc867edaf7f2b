package native

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// decoded is the schema as those see it who read its JSON.
func decoded(t *testing.T) map[string]any {
	t.Helper()
	text, err := json.Marshal(Schema())
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// Every file that can be read is right by the schema too.
func TestSchemaTakesWhatIsRead(t *testing.T) {
	root := decoded(t)
	var files []string
	for _, pattern := range []string{"testdata/*.json", "testdata/group/nightly.yaml", "../../../examples/*/muster.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 20 {
		t.Fatalf("only %d files", len(files))
	}
	for _, file := range files {
		data, err := os.ReadFile(strings.TrimSuffix(strings.TrimSuffix(file, ".json"), ".yaml") + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := check(root, root, yamlValue(t, data)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	root := decoded(t)
	tests := []struct{ name, file string }{
		{"an unknown field", "runn: x"},
		{"an unknown field of a role", "roles: {worker: {replica: 2}}"},
		{"a field of the job in a role", "roles: {worker: {limits: {run: 1h}}}"},
		{"a word for a number", "workers: two"},
		{"a number for a list", "outputs: 3"},
		{"a list for a map", "limits: [1h]"},
		{"an unknown framework", "framework: pytorch"},
		{"an unknown framework in the long form", "framework: {name: pytorch}"},
		{"an unknown option", "framework: {name: mpi, flavor: openmpi}"},
		{"an unknown priority", "priority: urgent"},
		{"needs outside of a group", "needs: a"},
		{"an unknown way to need", "jobs: {a: {run: x}, b: {run: y, needs: {a: started}}}"},
		{"a group in a group", "jobs: {a: {jobs: {}}}"},
		{"another kind", "{apiVersion: muster.dev/v1alpha1, kind: Pod, spec: {run: x}}"},
		{"text for a truth", "suspend: maybe"},
	}
	for _, tt := range tests {
		if err := check(root, root, yamlValue(t, []byte(tt.file))); err == nil {
			t.Errorf("%s is taken: %s", tt.name, tt.file)
		}
	}
}

// yamlValue is a file in the types of JSON.
func yamlValue(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// check knows as much of JSON Schema as ours uses, and fails at the rest.
func check(root, s map[string]any, v any) error {
	for key, rule := range s {
		var err error
		switch key {
		case "$schema", "$defs", "title", "description", "patternProperties", "additionalProperties":
		case "$ref":
			name := strings.TrimPrefix(rule.(string), "#/$defs/")
			err = check(root, root["$defs"].(map[string]any)[name].(map[string]any), v)
		case "anyOf":
			err = anyOf(root, rule.([]any), v)
		case "enum":
			err = among(rule.([]any), v)
		case "const":
			err = among([]any{rule}, v)
		case "type":
			err = typed(rule, v)
		case "exclusiveMinimum":
			if n, ok := v.(float64); ok && n <= rule.(float64) {
				err = fmt.Errorf("%v is too small", n)
			}
		case "required":
			for _, name := range rule.([]any) {
				if m, ok := v.(map[string]any); ok && m[name.(string)] == nil {
					err = fmt.Errorf("%s is needed", name)
				}
			}
		case "items":
			list, _ := v.([]any)
			for i, item := range list {
				if e := check(root, rule.(map[string]any), item); e != nil {
					err = fmt.Errorf("[%d]: %w", i, e)
				}
			}
		case "properties":
		default:
			err = fmt.Errorf("the schema has %q", key)
		}
		if err != nil {
			return err
		}
	}
	return members(root, s, v)
}

func anyOf(root map[string]any, all []any, v any) error {
	var last error
	for _, s := range all {
		if last = check(root, s.(map[string]any), v); last == nil {
			return nil
		}
	}
	return last
}

func among(all []any, v any) error {
	for _, a := range all {
		if reflect.DeepEqual(a, v) {
			return nil
		}
	}
	return fmt.Errorf("%v is not one of %v", v, all)
}

func typed(rule, v any) error {
	types, many := rule.([]any)
	if !many {
		types = []any{rule}
	}
	for _, t := range types {
		n, isNumber := v.(float64)
		switch t {
		case "object":
			if _, ok := v.(map[string]any); ok {
				return nil
			}
		case "array":
			if _, ok := v.([]any); ok {
				return nil
			}
		case "string":
			if _, ok := v.(string); ok {
				return nil
			}
		case "boolean":
			if _, ok := v.(bool); ok {
				return nil
			}
		case "number":
			if isNumber {
				return nil
			}
		case "integer":
			if isNumber && n == math.Trunc(n) {
				return nil
			}
		case "null":
			if v == nil {
				return nil
			}
		}
	}
	return fmt.Errorf("%v is no %v", v, types)
}

// members checks the fields of a map against properties and what else it takes.
func members(root, s map[string]any, v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	known, _ := s["properties"].(map[string]any)
	patterns, _ := s["patternProperties"].(map[string]any)
next:
	for name, value := range m {
		rule, ok := known[name].(map[string]any)
		if !ok {
			for p := range patterns {
				if regexp.MustCompile(p).MatchString(name) {
					continue next
				}
			}
			switch more := s["additionalProperties"].(type) {
			case map[string]any:
				rule = more
			case bool:
				return fmt.Errorf("there is no field %q", name)
			default:
				continue
			}
		}
		if err := check(root, rule, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
