package job

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

func (c checker) framework(f Framework) {
	c = c.in("framework")
	if f.Name == "" {
		c.in("name").missing("is needed; one of %s", strings.Join(Frameworks, ", "))
		return
	}
	if !slices.Contains(Frameworks, f.Name) {
		c.in("name").oneOf(f.Name, Frameworks...)
		return
	}
	c.in("flavour").oneOf(f.Flavour, "auto", "openmpi", "mpich", "intel")
	if f.Port != 0 {
		c.in("port").between(f.Port, 1, maxPort)
	}
}

func (c checker) files(s *Spec) {
	if s.Code != nil {
		code := c.in("code")
		switch {
		case s.Code.Path == "" && s.Code.Git == "":
			code.lacks([]string{"path", "git"}, "needs a path, or git")
		case s.Code.Ref != "" && s.Code.Git == "":
			code.in("ref").bad("is only for git")
		case s.Code.Git != "" && s.Code.Path != "" && !filepath.IsLocal(s.Code.Path):
			code.in("path").bad("%s leads out of the repository; with git it is a folder in it", quote(s.Code.Path))
		}
	}
	for i, in := range s.Inputs {
		at := c.in("inputs").item(i)
		if in.From == "" {
			at.in("from").missing("is needed: a path, URL or volume path")
		}
		at.in("env").variable(in.Env)
	}
	for i, out := range s.Outputs {
		at := c.in("outputs").item(i)
		if out.Path == "" {
			at.in("path").missing("is needed: what to keep, a path or a pattern")
		}
		at.in("env").variable(out.Env)
		at.in("when").oneOf(out.When, "always", "success", "failure")
	}
}

func (c checker) secrets(s *Spec) {
	for _, name := range slices.Sorted(maps.Keys(s.Secrets)) {
		secret, at := s.Secrets[name], c.in("secrets", name)
		at.exactlyOne([]bool{secret.Env != "", secret.File != "", secret.Kubernetes != ""}, "env", "file", "kubernetes")
		at.in("env").variable(secret.Env)
		if secret.As == "" && !isVariable(name) {
			at.bad("%s is not a variable name; say in which file the task finds it: as: PATH", quote(name))
		}
	}
}

// success accepts any role that a framework may add later.
func (c checker) success(s *Spec) {
	known := []string{"all", "any", "none"}
	names := slices.SortedFunc(maps.Keys(s.Roles), CompareRoles)
	if slices.Contains(roleOrder, s.Success) && s.Framework.Name != "plain" {
		return
	}
	c.in("success").oneOf(s.Success, append(known, names...)...)
}

func (c checker) policies(s *Spec) {
	restart := c.in("restart")
	restart.in("limit").between(s.Restart.Limit, 0, MaxReplicas)
	restart.scopeAndWhen(s.Restart.Scope, s.Restart.When)
	if s.Restart.Codes != nil {
		restart.in("codes").codes(*s.Restart.Codes)
	}
	c.in("stop", "signal").oneOf(s.Stop.Signal, Signals...)
	c.in("cleanup", "tasks").oneOf(s.Cleanup.Tasks, "all", "running", "none")
	c.in("isolation").oneOf(s.Isolation, "auto", "none")
	c.in("priority").between(s.Priority, -maxPriority, maxPriority)
	if s.Logs.Limit < 0 {
		c.in("logs", "limit").bad("must not be negative")
	}
}

func (c checker) scopeAndWhen(scope, when string) {
	c.in("scope").oneOf(scope, "job", "role", "task")
	c.in("when").oneOf(when, "failure", "retryable")
}

func (c checker) codes(codes Codes) {
	for i, n := range codes.Permanent {
		c.in("permanent").item(i).between(n, 1, 255)
	}
	for i, n := range codes.Retryable {
		at := c.in("retryable").item(i)
		at.between(n, 1, 255)
		if slices.Contains(codes.Permanent, n) {
			at.bad("%d is also permanent; keep one", n)
		}
	}
}
