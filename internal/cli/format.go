package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/run"
)

// formatFlag adds -o.
func formatFlag(c *cobra.Command, format *string, formats string) {
	c.Flags().StringVarP(format, "output", "o", "", "format: "+formats)
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		for _, f := range append(strings.Split(formats, "|"), "") {
			if *format == f {
				return nil
			}
		}
		return usageError(c, "-o %s: there is only %s", *format, strings.ReplaceAll(formats, "|", ", "))
	}
}

// print writes v in a format that programs read.
func (a *app) print(format string, v any, names ...string) error {
	var out []byte
	var err error
	switch format {
	case "json":
		out, err = json.MarshalIndent(v, "", "  ")
		out = append(out, '\n')
	case "yaml":
		out, err = toYAML(v)
	case "name":
		out = []byte(strings.Join(names, "\n") + "\n")
		if len(names) == 0 {
			out = nil
		}
	}
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(out)
	return err
}

// toYAML writes what JSON would have, so that both have the same names.
func toYAML(v any) ([]byte, error) {
	j, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(j))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		return nil, err
	}
	return yaml.Marshal(withNumbers(plain))
}

// withNumbers makes numbers of what would otherwise be written as text.
func withNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = withNumbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = withNumbers(v[i])
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
	}
	return v
}

// find opens the service and returns the run that the arguments name: an id, a
// job's name for its newest run, or nothing for the newest of all.
func (a *app) find(ctx context.Context, args []string) (run.Service, run.Run, error) {
	svc, err := a.open()
	if err != nil {
		return nil, run.Run{}, err
	}
	ref := ""
	if len(args) > 0 {
		ref = args[0]
	}
	r, err := svc.Get(ctx, ref)
	return svc, r, notGroup(ctx, svc, ref, err)
}

// each does something for every run that is named, by itself or with its group,
// and goes on after an error.
func (a *app) each(ctx context.Context, refs []string, do func(run.Service, run.Run) error) error {
	svc, err := a.open()
	if err != nil {
		return err
	}
	var list problem.List
	for _, ref := range refs {
		runs, err := named(ctx, svc, ref)
		note := func(err error) {
			if err != nil {
				list = append(list, &problem.Error{Kind: problem.KindOf(err), Text: err.Error(), Hint: problem.HintOf(err)})
			}
		}
		note(err)
		for _, r := range runs {
			if err == nil {
				note(do(svc, r))
			}
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return list.Err()
}
