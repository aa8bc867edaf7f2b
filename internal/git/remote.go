// Package git fetches one commit of a repository with the machine's own git.
package git

import (
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"muster.dev/muster/internal/problem"
)

// transports are those that a repository may be reached by. Others, such as
// ext::, are programs of their own.
var transports = []string{"https", "http", "ssh", "git", "file"}

// A Remote is a repository. Its URL can be shown to anybody.
type Remote struct {
	URL   string
	login *url.Userinfo // for http and https; nil for none
}

// Parse reads a URL, a host:path as ssh has it, or an absolute path.
func Parse(text string) (Remote, error) {
	switch {
	case text == "" || strings.HasPrefix(text, "-") || strings.ContainsFunc(text, control):
		return Remote{}, bad("is no URL of a repository", "https://HOST/PATH, HOST:PATH for ssh, or a path")
	case strings.Contains(text, "://"):
		return parseURL(text)
	case filepath.IsAbs(text):
		return Remote{URL: filepath.Clean(text)}, nil
	case OverSSH(text):
		return Remote{URL: text}, nil
	}
	return Remote{}, bad("is no URL of a repository, and no absolute path", "https://HOST/PATH, HOST:PATH for ssh, or a path")
}

func parseURL(text string) (Remote, error) {
	u, err := url.Parse(text)
	// The parser's words have the text in them, and with it a password.
	if err != nil || strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User.Username(), "-") {
		return Remote{}, bad("is no URL of a repository", "https://HOST/PATH; special characters of a password are written %40 and the like")
	}
	if !slices.Contains(transports, u.Scheme) {
		return Remote{}, bad(u.Scheme+" is no way to a repository", "one of "+strings.Join(transports, ", "))
	}
	r := Remote{}
	switch {
	case u.User == nil:
	case u.Scheme == "ssh": // who one is there is part of the place; a password is of no use to it
		u.User = url.User(u.User.Username())
	default:
		r.login, u.User = u.User, nil
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return Remote{}, bad("has a ? or a #, which may hide a password", "leave them out; a password comes from a credential helper")
	}
	r.URL = u.String()
	return r, nil
}

// OverSSH says that a text is a host:path, which git reaches over ssh.
func OverSSH(text string) bool {
	host, path, ok := strings.Cut(text, ":")
	return ok && host != "" && path != "" && !strings.Contains(host, "/") && !strings.HasPrefix(path, ":") && !strings.HasPrefix(host, "-")
}

// CheckRef refuses what no branch, tag or commit can be called. Some of it would
// mean something else to git.
func CheckRef(ref string) error {
	wrong := strings.HasPrefix(ref, "-") || strings.HasPrefix(ref, "/") || strings.HasSuffix(ref, "/") || strings.HasSuffix(ref, ".lock") ||
		strings.Contains(ref, "..") || strings.Contains(ref, "//") || strings.Contains(ref, "@{") ||
		strings.ContainsAny(ref, " ~^:?*[\\") || strings.ContainsFunc(ref, control)
	if wrong {
		return &problem.Error{Kind: problem.Invalid, Field: "code.ref", Text: "is no name of a branch, a tag or a commit", Hint: "a branch, a tag, or a commit's number"}
	}
	return nil
}

func control(r rune) bool { return r < 0x20 || r == 0x7f }

func bad(text, hint string) error {
	return &problem.Error{Kind: problem.Invalid, Field: "code.git", Text: text, Hint: hint}
}

// Short is a commit as people see it.
func Short(commit string) string { return commit[:min(7, len(commit))] }

var userinfo = regexp.MustCompile(`://[^/@\s'"]*@`)

// Redact takes who one is out of the URLs in a text: the user's own settings may
// have put a password there.
func Redact(text string) string { return userinfo.ReplaceAllString(text, "://") }
