//go:build linux

package docs

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster.dev/muster/internal/format/native"
)

// Where the tables of docs/jobfile.md begin and end.
const (
	jobfile     = "docs/jobfile.md"
	tablesBegin = "<!-- Made from the parser by make generate: change test/docs/fields_test.go, not this. -->\n"
	tablesEnd   = "<!-- End of what is made. -->\n"
)

// docs/jobfile.md has every field that a job file may have, and no other.
func TestJobFileReference(t *testing.T) {
	text := read(t, jobfile)
	before, rest, ok := strings.Cut(text, tablesBegin)
	_, after, also := strings.Cut(rest, tablesEnd)
	if !ok || !also {
		t.Fatalf("%s has lost the marks around its tables", jobfile)
	}
	made := before + tablesBegin + tables(t) + tablesEnd + after
	if made == text {
		return
	}
	if *update {
		write(t, jobfile, made)
		return
	}
	t.Errorf("%s is not what the parser takes; make generate writes it anew", jobfile)
}

// tables of all objects, in the order of the sections.
func tables(t *testing.T) string {
	t.Helper()
	defs := object(native.Schema()["$defs"])
	known := map[string]bool{}
	var b strings.Builder
	for _, s := range sections {
		properties := object(resolve(defs, s.path)["properties"])
		known[s.path] = true
		fmt.Fprintf(&b, "\n### %s\n\n| field | type | default | meaning |\n|---|---|---|---|\n", s.title)
		for _, f := range s.fields {
			p, ok := properties[f.name]
			if !ok {
				t.Errorf("%s: the parser knows no field %q", s.title, f.name)
				continue
			}
			delete(properties, f.name)
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.name, typeOf(object(p)), f.standard, f.text())
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !s.leavesOut(name) {
				t.Errorf("%s: the field %q has no meaning in fields_test.go", s.title, name)
			}
		}
	}
	allDescribed(t, defs, known)
	return b.String() + "\n"
}

// allDescribed finds objects inside the job's that no section is about.
func allDescribed(t *testing.T, defs map[string]any, known map[string]bool) {
	t.Helper()
	for _, top := range []string{"file", "role"} {
		for name, p := range object(object(defs[top])["properties"]) {
			isObject := len(object(long(object(p))["properties"])) > 0
			if isObject && !known["file."+name] && !known["role."+name] {
				t.Errorf("no section is about %s.%s", top, name)
			}
		}
	}
}

// resolve finds the object at a path of the schema: file.restart.codes.
func resolve(defs map[string]any, path string) map[string]any {
	steps := strings.Split(path, ".")
	at := object(defs[steps[0]])
	for _, step := range steps[1:] {
		at = long(object(object(at["properties"])[step]))
	}
	return map[string]any{"properties": maps.Clone(object(at["properties"]))}
}

// long is the long form of a field that has a short one too, and what a list
// or a map is made of.
func long(s map[string]any) map[string]any {
	for _, one := range list(s["anyOf"]) {
		if l := long(object(one)); len(object(l["properties"])) > 0 {
			return l
		}
	}
	for _, inner := range []string{"items", "additionalProperties"} {
		if l := object(s[inner]); len(l) > 0 && len(object(s["properties"])) == 0 {
			return long(l)
		}
	}
	return s
}

// object is a value of the schema as a map, whatever its Go type is called.
func object(v any) map[string]any {
	r := reflect.ValueOf(v)
	if !r.IsValid() || r.Kind() != reflect.Map {
		return nil
	}
	return r.Convert(reflect.TypeFor[map[string]any]()).Interface().(map[string]any)
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// typeOf says in words what a part of the schema takes.
func typeOf(s map[string]any) string {
	switch {
	case s["$ref"] != nil:
		return strings.TrimPrefix(fmt.Sprint(s["$ref"]), "#/$defs/")
	case s["const"] != nil:
		return fmt.Sprintf("`%v`", s["const"])
	case s["enum"] != nil:
		return enumeration(list(s["enum"]))
	case s["anyOf"] != nil:
		var all []string
		for _, one := range list(s["anyOf"]) {
			all = append(all, typeOf(object(one)))
		}
		return strings.Join(all, " or ")
	case s["type"] == "null":
		return "nothing"
	case s["description"] != nil:
		return quantity(fmt.Sprint(s["description"]))
	}
	return plainType(s)
}

func enumeration(values []any) string {
	var all []string
	for _, v := range values {
		all = append(all, fmt.Sprintf("`%v`", v))
	}
	return strings.Join(all, " ")
}

// quantity shortens what the parser calls its scalars.
func quantity(description string) string {
	for _, word := range []string{"duration", "size"} {
		if strings.HasPrefix(description, "a "+word) {
			return word
		}
	}
	return "`" + description + "`"
}

func plainType(s map[string]any) string {
	switch kind := s["type"]; {
	case kind == "array":
		return "list of " + typeOf(object(s["items"]))
	case kind == "object" && len(object(s["properties"])) > 0:
		return "object"
	case kind == "object" && s["additionalProperties"] != nil:
		return "map to " + typeOf(object(s["additionalProperties"]))
	case kind == "object":
		return "map"
	case kind == "integer":
		return "whole number"
	case kind == "boolean":
		return "true, false"
	case kind == nil:
		return "anything"
	case kind == "number":
		return "number"
	}
	return "text"
}

// What the reference says is refused is refused, so that it is corrected when
// somebody builds it.
func TestRefusedFieldsAreRefused(t *testing.T) {
	s := newSession(t, "")
	n := 0
	for _, section := range sections {
		for _, f := range section.fields {
			if f.refused == "" {
				continue
			}
			n++
			s.file("refused.yaml", []byte("run: 'true'\n"+f.refused+"\n"))
			cmd := exec.Command(filepath.Join(binaries, "muster"), "plan", "-f", "refused.yaml")
			cmd.Dir, cmd.Env = s.work, s.env
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Errorf("%s.%s is refused no more; correct fields_test.go\n%s", section.title, f.name, out)
			}
		}
	}
	if n == 0 {
		t.Error("nothing is refused: take this test away")
	}
}
