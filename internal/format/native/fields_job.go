package native

import (
	"strings"

	"muster.dev/muster/internal/job"
)

// jobTable is what may stand at the top besides the fields of a role. Where
// both have a name, the job's meaning holds at the top.
var jobTable = table[draft]{
	as("name", text, func(d *draft) *string { return &d.spec.Name }),
	as("framework", either(short(word, frameworkName), object(frameworkTable)), func(d *draft) *job.Framework { return &d.spec.Framework }),
	as("workers", optional(whole), func(d *draft) **int { return &d.workers }),
	as("servers", optional(whole), func(d *draft) **int { return &d.servers }),
	{"roles", readLater},
	as("code", optional(either(short(word, codePath), object(codeTable))), func(d *draft) **job.Code { return &d.spec.Code }),
	as("inputs", list(object(inputTable)), func(d *draft) *[]job.Input { return &d.spec.Inputs }),
	as("outputs", list(either(short(word, outputPath), object(outputTable))), func(d *draft) *[]job.Output { return &d.spec.Outputs }),
	as("checkpoint", word, func(d *draft) *string { return &d.spec.Checkpoint }),
	as("secrets", dict(object(secretTable)), func(d *draft) *map[string]job.Secret { return &d.spec.Secrets }),
	as("success", word, func(d *draft) *string { return &d.spec.Success }),
	as("restart", either(short(whole, restartLimit), object(restartTable)), func(d *draft) *job.Restart { return &d.spec.Restart }),
	as("limits", object(limitsTable), func(d *draft) *job.Limits { return &d.spec.Limits }),
	as("stop", object(stopTable), func(d *draft) *job.Stop { return &d.spec.Stop }),
	as("cleanup", object(cleanupTable), func(d *draft) *job.Cleanup { return &d.spec.Cleanup }),
	as("logs", object(logsTable), func(d *draft) *job.Logs { return &d.spec.Logs }),
	as("suspend", boolean, func(d *draft) *bool { return &d.spec.Suspend }),
	as("queue", word, func(d *draft) *string { return &d.spec.Queue }),
	as("priority", priority, func(d *draft) *int { return &d.spec.Priority }),
	as("isolation", word, func(d *draft) *string { return &d.spec.Isolation }),
	as("labels", dict(text), func(d *draft) *map[string]string { return &d.spec.Labels }),
	as("annotations", dict(text), func(d *draft) *map[string]string { return &d.spec.Annotations }),
	as("kubernetes", dict(anything), func(d *draft) *map[string]any { return &d.spec.Kubernetes }),
	as("yarn", dict(anything), func(d *draft) *map[string]any { return &d.spec.YARN }),
	as("slurm", dict(anything), func(d *draft) *map[string]any { return &d.spec.Slurm }),
	as("ssh", dict(anything), func(d *draft) *map[string]any { return &d.spec.SSH }),
	{"jobs", refuse("makes the file a group, and here one job is wanted")},
	{"needs", refuse("is for a job under jobs")},
	{"max_parallel", refuse("is for a group, a file with jobs")},
	{"stop_on_failure", refuse("is for a group, a file with jobs")},
}

var frameworkTable = table[job.Framework]{
	as("name", word, frameworkName),
	as("flavour", word, func(f *job.Framework) *string { return &f.Flavour }),
	as("options", list(text), func(f *job.Framework) *[]string { return &f.Options }),
	as("launcher", word, func(f *job.Framework) *string { return &f.Launcher }),
	as("port", port, func(f *job.Framework) *int { return &f.Port }),
	as("van", word, func(f *job.Framework) *string { return &f.Van }),
	as("interface", word, func(f *job.Framework) *string { return &f.Interface }),
	as("heartbeat", above0(duration), func(f *job.Framework) *job.Duration { return &f.Heartbeat }),
	as("key", word, func(f *job.Framework) *string { return &f.Key }),
}

func frameworkName(f *job.Framework) *string { return &f.Name }

var codeTable = table[job.Code]{
	as("path", word, codePath),
	as("git", word, func(c *job.Code) *string { return &c.Git }),
	as("ref", word, func(c *job.Code) *string { return &c.Ref }),
}

func codePath(c *job.Code) *string { return &c.Path }

var inputTable = table[job.Input]{
	as("name", word, func(i *job.Input) *string { return &i.Name }),
	as("from", word, func(i *job.Input) *string { return &i.From }),
	as("path", word, func(i *job.Input) *string { return &i.Path }),
	as("env", word, func(i *job.Input) *string { return &i.Env }),
}

var outputTable = table[job.Output]{
	as("name", word, func(o *job.Output) *string { return &o.Name }),
	as("path", word, outputPath),
	as("env", word, func(o *job.Output) *string { return &o.Env }),
	as("to", word, func(o *job.Output) *string { return &o.To }),
	as("when", word, func(o *job.Output) *string { return &o.When }),
}

func outputPath(o *job.Output) *string { return &o.Path }

var secretTable = table[job.Secret]{
	as("env", word, func(s *job.Secret) *string { return &s.Env }),
	as("file", word, func(s *job.Secret) *string { return &s.File }),
	as("kubernetes", word, func(s *job.Secret) *string { return &s.Kubernetes }),
	as("as", word, func(s *job.Secret) *string { return &s.As }),
}

var restartTable = table[job.Restart]{
	as("limit", whole, restartLimit),
	as("scope", word, func(r *job.Restart) *string { return &r.Scope }),
	as("when", word, func(r *job.Restart) *string { return &r.When }),
	as("backoff", above0(duration), func(r *job.Restart) *job.Duration { return &r.Backoff }),
	as("codes", optional(object(codesTable)), func(r *job.Restart) **job.Codes { return &r.Codes }),
}

func restartLimit(r *job.Restart) *int { return &r.Limit }

var codesTable = table[job.Codes]{
	as("permanent", list(whole), func(c *job.Codes) *[]int { return &c.Permanent }),
	as("retryable", list(whole), func(c *job.Codes) *[]int { return &c.Retryable }),
}

var limitsTable = table[job.Limits]{
	as("run", above0(duration), func(l *job.Limits) *job.Duration { return &l.Run }),
	as("queue", above0(duration), func(l *job.Limits) *job.Duration { return &l.Queue }),
	as("rendezvous", above0(duration), func(l *job.Limits) *job.Duration { return &l.Rendezvous }),
	as("stall", above0(duration), func(l *job.Limits) *job.Duration { return &l.Stall }),
}

var stopTable = table[job.Stop]{
	as("signal", signal, func(s *job.Stop) *string { return &s.Signal }),
	as("grace", optional(duration), func(s *job.Stop) **job.Duration { return &s.Grace }),
}

var cleanupTable = table[job.Cleanup]{
	as("tasks", word, func(c *job.Cleanup) *string { return &c.Tasks }),
	as("ttl", above0(duration), func(c *job.Cleanup) *job.Duration { return &c.TTL }),
}

var logsTable = table[job.Logs]{
	as("limit", above0(size), func(l *job.Logs) *job.Bytes { return &l.Limit }),
}

// readLater keeps the roles until the defaults for them are known.
func readLater(c cursor, d *draft) {
	if !c.describes(rolesSchema) {
		d.roles = &c
	}
}

// refuse is for names that are known and not built yet.
func refuse(why string) func(cursor, *draft) {
	return func(c cursor, _ *draft) { c.bad("%s", why) }
}

// signal keeps the name without SIG.
func signal(c cursor, to *string) {
	word(c, to)
	*to = strings.TrimPrefix(strings.ToUpper(*to), "SIG")
}

var priorities = map[string]int{"low": -10, "normal": 0, "high": 10}

func priority(c cursor, to *int) {
	n, named := priorities[c.v.text]
	switch {
	case c.describes(func() schema {
		return schema{"anyOf": []any{describe(whole), schema{"enum": []any{"low", "normal", "high"}}}}
	}):
	case named:
		*to = n
	case c.v.tag == "!!str":
		c.bad("%s", suggest(quote(c.v.text)+" is neither a whole number nor low, normal or high",
			c.v.text, []string{"low", "normal", "high"}))
	default:
		whole(c, to)
	}
}

// port refuses 0, which the Spec keeps for a port that was left out.
func port(c cursor, to *int) {
	n := 1
	whole(c, &n)
	if n == 0 {
		c.bad("must be at least 1, is 0")
	}
	*to = n
}
