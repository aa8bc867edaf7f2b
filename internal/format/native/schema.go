package native

import (
	"go.yaml.in/yaml/v3"

	"muster.dev/muster/internal/job"
)

// A schema is a part of a JSON Schema.
type schema map[string]any

// describes says that forms are asked what they take instead of reading, and
// answers for this one.
func (c cursor) describes(answer func() schema) bool {
	if c.r.schema == nil {
		return false
	}
	for k, v := range answer() {
		c.r.schema[k] = v
	}
	return true
}

// describe asks a form what it takes.
func describe[V any](f form[V]) schema {
	s := schema{}
	var to V
	f(cursor{r: &report{schema: s}, v: &value{}}, &to)
	return s
}

// plainSchema describes the forms that look at a value themselves.
func plainSchema(kind yaml.Kind, want string) schema {
	switch {
	case kind == yaml.MappingNode:
		return schema{"type": "object"}
	case kind == yaml.SequenceNode:
		return schema{"type": "array"}
	case want == "true or false":
		return schema{"type": "boolean"}
	case want == "a whole number":
		return schema{"type": "integer"}
	case want == "a number":
		return schema{"type": "number", "exclusiveMinimum": 0}
	case want == "text": // run: true is a fine command
		return schema{"type": []any{"string", "number", "boolean"}}
	}
	return schema{"type": []any{"string", "integer"}, "description": want}
}

// tableSchema describes a map with the fields of a table and no others.
func tableSchema[T any](t table[T]) schema {
	return schema{"type": "object", "properties": t.properties(), "additionalProperties": false}
}

func (t table[T]) properties() schema {
	all := schema{}
	for _, f := range t {
		s := schema{}
		var to T
		f.read(cursor{r: &report{schema: s}, v: &value{}}, &to)
		all[f.name] = s
	}
	return all
}

func rolesSchema() schema {
	return schema{"type": "object", "additionalProperties": schema{"anyOf": []any{ref("role"), schema{"type": "null"}}}}
}

func envSchema() schema {
	passedOn := schema{"type": "null", "description": "taken from your environment"}
	return schema{"type": "object", "additionalProperties": schema{"anyOf": []any{describe(text), passedOn}}}
}

func ref(name string) schema { return schema{"$ref": "#/$defs/" + name} }

// groupOnly are the names at the top of a group, and needs in each of its jobs.
var groupOnly = []string{"jobs", "needs", "max_parallel", "stop_on_failure"}

// Schema returns the JSON Schema of job files, made from the tables that read
// them. It takes some files that Parse refuses: not every rule fits into one.
func Schema() map[string]any {
	fields := schema{}
	for _, from := range []schema{roleTable.properties(), jobTable.properties()} { // the job's meaning holds at the top
		for name, s := range from {
			fields[name] = s
		}
	}
	for _, name := range groupOnly {
		delete(fields, name)
	}
	enumerate(fields)
	one := closed(fields)
	file := closed(fields, groupTable.properties(), schema{"jobs": schema{"type": "object", "additionalProperties": ref("job")}})
	// In a group, what it needs is said of a job.
	needs := schema{"anyOf": []any{describe(word), describe(list(word)), schema{"type": "object", "additionalProperties": schema{"enum": []any{"success", "done"}}}}}
	return schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "Muster job file",
		"anyOf":   []any{ref("file"), ref("kubernetes")},
		"$defs": schema{
			"file": file,
			"job":  closed(fields, schema{"needs": needs}),
			"spec": one,
			"role": tableSchema(roleTable),
			"kubernetes": schema{"type": "object", "required": []any{"apiVersion", "kind", "spec"}, "additionalProperties": false,
				"patternProperties": schema{"^x-": schema{}},
				"properties": schema{
					"apiVersion": schema{"const": apiVersion}, "kind": schema{"const": apiKind},
					"metadata": tableSchema(metadataTable), "spec": ref("spec"),
				}},
		},
	}
}

// closed is a map with these fields, the user's own, and no others.
func closed(all ...schema) schema {
	fields := schema{}
	for _, more := range all {
		for name, s := range more {
			fields[name] = s
		}
	}
	return schema{"type": "object", "properties": fields, "additionalProperties": false, "patternProperties": schema{"^x-": schema{}}}
}

// enumerate adds the words that the rules of a job know and its tables do not.
func enumerate(fields schema) {
	names := words(job.Frameworks)
	long := fields["framework"].(schema)["anyOf"].([]any)[1].(schema)
	long["properties"].(schema)["name"] = schema{"enum": names}
	fields["framework"] = schema{"anyOf": []any{schema{"enum": names}, long}}
}

func words(list []string) []any {
	all := make([]any, len(list))
	for i, w := range list {
		all[i] = w
	}
	return all
}
