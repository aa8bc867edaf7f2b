package native

import (
	"bytes"
	"encoding/json"
	"strconv"

	"muster.dev/muster/internal/job"
)

// Long returns a job as a job file in the long form, in the types of JSON: with
// nothing left to defaults that Parse would have to know. Parse reads it back.
func Long(s *job.Spec) (map[string]any, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var file map[string]any
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	if f, ok := file["framework"].(map[string]any); ok {
		delete(f, "inferred")
	}
	roles, _ := file["roles"].(map[string]any)
	for name := range roles {
		if r, ok := roles[name].(map[string]any); ok {
			longRole(r)
		}
	}
	return file, nil
}

// LongGroup is Long for a group.
func LongGroup(g *job.Group) (map[string]any, error) {
	file := map[string]any{}
	if g.Name != "" {
		file["name"] = g.Name
	}
	if g.MaxParallel > 0 {
		file["max_parallel"] = g.MaxParallel
	}
	if g.StopOnFailure {
		file["stop_on_failure"] = true
	}
	jobs := map[string]any{}
	for name, spec := range g.Jobs {
		long, err := Long(spec)
		if err != nil {
			return nil, err
		}
		if needs := g.Needs[name]; len(needs) > 0 {
			long["needs"] = needs
		}
		jobs[name] = long
	}
	file["jobs"] = jobs
	return file, nil
}

// longRole writes what a Role keeps in another form than a file has it.
func longRole(r map[string]any) {
	if n, err := strconv.Atoi(textOf(r["procs"])); err == nil {
		r["procs"] = json.Number(strconv.Itoa(n))
	}
	from, _ := r["env_from"].([]any)
	delete(r, "env_from")
	env, _ := r["env"].(map[string]any)
	if env == nil && len(from) > 0 {
		env = map[string]any{}
		r["env"] = env
	}
	for _, name := range from {
		env[textOf(name)] = nil // taken from the submitter's environment
	}
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}
