package cli

import (
	"strings"

	"muster.dev/muster/internal/git"
	"muster.dev/muster/internal/job"
)

// gitPrefix marks a repository where a folder may be given too.
const gitPrefix = "git+"

// codeFlag reads --code: a folder, or git+URL@REF. Paths are seen from base.
func codeFlag(text, base string) *job.Code {
	c := &job.Code{Path: text}
	if at, ok := strings.CutPrefix(text, gitPrefix); ok {
		c = &job.Code{}
		c.Git, c.Ref = splitRef(at)
	}
	resolveCode(c, base)
	return c
}

// splitRef takes the @REF off a repository: behind the last @ of the path, as
// one before that says who one is.
func splitRef(text string) (repo, ref string) {
	path := 0
	if scheme := strings.Index(text, "://"); scheme >= 0 {
		path = scheme + len("://")
		path += max(strings.IndexByte(text[path:], '/'), 0)
	} else if git.OverSSH(text) {
		path = strings.IndexByte(text, ':')
	}
	if at := strings.LastIndexByte(text[path:], '@'); at > 0 {
		return text[:path+at], text[path+at+1:]
	}
	return text, ""
}

// resolveCode makes the paths of this machine absolute. With a repository, the
// path is a folder in it.
func resolveCode(c *job.Code, base string) {
	switch {
	case c.Git == "":
		if c.Path != "" {
			c.Path = pathIn(base, c.Path)
		}
	case strings.HasPrefix(c.Git, "-") || strings.Contains(c.Git, "://") || strings.Contains(c.Git, "::") || git.OverSSH(c.Git):
	default:
		if home, err := atHome(c.Git); err == nil {
			c.Git = pathIn(base, home)
		}
	}
}

// gitWords is what is fetched, as far as it is known before.
func gitWords(c *job.Code) string {
	s := c.Git
	if c.Ref != "" {
		s += "@" + c.Ref
	}
	if c.Path != "" {
		s += ":" + c.Path
	}
	return s
}
