package snapshot

import (
	"bytes"
	"strings"
)

// A rule is one line of a .gitignore or .musterignore file.
type rule struct {
	negated  bool // the line began with !
	dirOnly  bool // the line ended with /
	baseOnly bool // no slash inside: the line speaks of names, not of paths
	glob     glob
}

// parseRules reads an ignore file by git's rules. A line that can match
// nothing, such as one with an unclosed class, is kept and matches nothing.
func parseRules(text []byte) []rule {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	var rules []rule
	for line := range strings.SplitSeq(string(text), "\n") {
		line, _, _ = strings.Cut(line, "\x00") // git reads lines as C strings
		line = trimSpaces(strings.TrimSuffix(line, "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		rules = append(rules, parseRule(line))
	}
	return rules
}

func parseRule(line string) rule {
	var r rule
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.baseOnly = !strings.Contains(line, "/")
	r.glob = compile(strings.TrimPrefix(line, "/"))
	return r
}

// trimSpaces drops the spaces at the end of a line, but not an escaped one.
func trimSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			continue
		case '\\':
			if i++; i == len(s) {
				return s
			}
		}
		end = i + 1
	}
	return s[:end]
}

// matches reports whether the rule speaks of path, which is relative to the
// folder of the rule's file; base is its last element.
func (r *rule) matches(path, base string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if r.baseOnly {
		return r.glob.match(base)
	}
	return r.glob.match(path)
}

// An ignorer is the ignore files of one folder and of those above it. The
// deepest file with a matching line decides, by its last such line; all
// .musterignore files come before any .gitignore, so that they can re-include.
type ignorer struct {
	parent *ignorer
	depth  int // length of the folder's path and its slash; 0 at the root
	muster []rule
	git    []rule
}

// below returns the ignorer of a folder inside ig's.
func (ig *ignorer) below(dir string, git, muster []rule) *ignorer {
	if len(git)+len(muster) == 0 && ig != nil {
		return ig
	}
	depth := 0
	if dir != "." {
		depth = len(dir) + 1
	}
	return &ignorer{parent: ig, depth: depth, muster: muster, git: git}
}

// ignored reports whether the path, relative to the root, stays out. What lies
// in an ignored folder stays out with it: the caller does not look there.
func (ig *ignorer) ignored(path string, isDir bool) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := ig; i != nil; i = i.parent {
		if r := lastMatch(i.muster, path[i.depth:], base, isDir); r != nil {
			return !r.negated
		}
	}
	for i := ig; i != nil; i = i.parent {
		if r := lastMatch(i.git, path[i.depth:], base, isDir); r != nil {
			return !r.negated
		}
	}
	return false
}

func lastMatch(rules []rule, path, base string, isDir bool) *rule {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].matches(path, base, isDir) {
			return &rules[i]
		}
	}
	return nil
}
