//go:build linux

package git

import (
	"context"
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"muster.dev/muster/internal/problem"
	"muster.dev/muster/test/suite"
)

// A bed is a repository that tests fetch from, and the commits in it.
type bed struct {
	*testing.T
	dir           string
	first, second string
}

// newBed has main with two commits, a branch at the first, tags of both kinds,
// and a folder that is a submodule.
func newBed(t *testing.T) *bed {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		suite.Require(t, "git", "git is not here")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	b := &bed{T: t, dir: filepath.Join(t.TempDir(), "origin")}
	b.git("init", "-q", "-b", "main", b.dir)
	b.write("data", "one\n")
	b.first = b.commit("one")
	b.git("-C", b.dir, "branch", "old")
	b.git("-C", b.dir, "tag", "v1")
	b.write("data", "two\n")
	b.write("sub/data", "in a folder\n")
	b.git("-C", b.dir, "update-index", "--add", "--cacheinfo", "160000,"+b.first+",lib")
	b.second = b.commit("two")
	b.git("-C", b.dir, "tag", "-a", "-m", "two", "v2")
	return b
}

func (b *bed) git(args ...string) string {
	b.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (b *bed) write(name, text string) {
	b.Helper()
	path := filepath.Join(b.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		b.Fatal(err)
	}
}

func (b *bed) commit(message string) string {
	b.Helper()
	b.git("-C", b.dir, "add", "--", "*data")
	b.git("-C", b.dir, "commit", "-q", "-m", message)
	return b.git("-C", b.dir, "rev-parse", "HEAD")
}

// fetch fetches into a new folder and returns what data says there.
func (b *bed) fetch(from, ref string) (Checkout, string, error) {
	b.Helper()
	r, err := Parse(from)
	if err != nil {
		return Checkout{}, "", err
	}
	dir := filepath.Join(b.TempDir(), "checkout")
	c, err := Fetch(context.Background(), r, ref, dir, os.Environ())
	data, _ := os.ReadFile(filepath.Join(dir, "data"))
	return c, string(data), err
}

func TestFetch(t *testing.T) {
	b := newBed(t)
	for _, from := range []string{"file://" + b.dir, b.dir} {
		for _, tt := range []struct{ name, ref, commit, data string }{
			{"nothing said", "", b.second, "two\n"},
			{"a branch", "main", b.second, "two\n"},
			{"another branch", "old", b.first, "one\n"},
			{"a tag", "v1", b.first, "one\n"},
			{"a tag that is an object", "v2", b.second, "two\n"},
			{"a full name", "refs/heads/old", b.first, "one\n"},
			{"a commit", b.first, b.first, "one\n"},
			{"the beginning of a commit", b.first[:8], b.first, "one\n"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				c, data, err := b.fetch(from, tt.ref)
				if err != nil || c.Commit != tt.commit || data != tt.data {
					t.Errorf("got %+v with %q, %v", c, data, err)
				}
				if submodules := tt.commit == b.second; slices.Contains(c.Submodules, "lib") != submodules {
					t.Errorf("submodules are %q", c.Submodules)
				}
			})
		}
	}
}

func TestWhatCannotBeFetched(t *testing.T) {
	b := newBed(t)
	b.git("-C", b.dir, "branch", "v1", "main")
	empty := filepath.Join(t.TempDir(), "empty")
	b.git("init", "-q", empty)
	for _, tt := range []struct{ name, from, ref, text, hint string }{
		{"a branch that is not there", b.dir, "mian", "has no branch, tag or commit mian", "did you mean main?"},
		{"a commit that is not there", b.dir, strings.Repeat("ab", 20), "has no branch, tag or commit abab", "git ls-remote"},
		{"a part of a commit that is not there", b.dir, "abcdef", "has no branch, tag or commit abcdef", "git ls-remote"},
		{"a branch and a tag", b.dir, "v1", "v1 is a branch and a tag", "refs/heads/v1 or refs/tags/v1"},
		{"an empty repository", empty, "", "is empty", "push"},
		{"no repository", t.TempDir(), "", "is no repository", "git ls-remote"},
		{"nothing at all", "/nowhere/at/all", "", "is no repository", "git ls-remote"},
		{"a port where nobody listens", "http://127.0.0.1:1/x", "", "cannot be reached", "check the name and the network"},
		{"an option", b.dir, "--upload-pack=false", "is no name of a branch", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := b.fetch(tt.from, tt.ref)
			var p *problem.Error
			if !errors.As(err, &p) || !strings.Contains(p.Text, tt.text) || !strings.Contains(p.Hint, tt.hint) {
				t.Errorf("got %+v", err)
			}
		})
	}
}

func TestWithoutGit(t *testing.T) {
	_, err := Fetch(context.Background(), Remote{URL: "/x"}, "", t.TempDir(), []string{"PATH=" + t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "needs git, which is not on PATH") {
		t.Errorf("got %v", err)
	}
}

// A git around us, and settings that would run something else, change nothing.
func TestOnlyTheRepositoryIsAsked(t *testing.T) {
	b := newBed(t)
	mark := filepath.Join(t.TempDir(), "ran")
	hooks := t.TempDir()
	for _, hook := range []string{"post-checkout", "reference-transaction"} {
		if err := os.WriteFile(filepath.Join(hooks, hook), []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.git("config", "--global", "core.hooksPath", hooks)
	b.git("config", "--global", "url.ext::touch "+mark+" .insteadOf", "elsewhere:")
	t.Setenv("GIT_DIR", "/nowhere")
	if _, data, err := b.fetch(b.dir, "main"); err != nil || data != "two\n" {
		t.Errorf("got %q, %v", data, err)
	}
	if _, _, err := b.fetch("elsewhere:x", ""); err == nil || !strings.Contains(err.Error(), "transport that is not taken") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("something was run")
	}
}

// A repository behind a password, over http.
func TestPassword(t *testing.T) {
	b := newBed(t)
	b.git("-C", b.dir, "config", "http.receivepack", "false")
	backend := &cgi.Handler{
		Path: b.git("--exec-path") + "/git-http-backend",
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Dir(b.dir), "GIT_HTTP_EXPORT_ALL=1", "HOME=" + os.Getenv("HOME")},
	}
	var mu sync.Mutex
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		seen = append(seen, shown("s3cr3t")...)
		mu.Unlock()
		if user, password, _ := q.BasicAuth(); user != "me" || password != "s3cr3t@" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, q)
	}))
	defer server.Close()
	u, err := url.Parse(server.URL + "/origin/.git")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"main", "old", b.first, b.first[:8]} {
		u.User = url.UserPassword("me", "s3cr3t@")
		if c, data, err := b.fetch(u.String(), ref); err != nil || data == "" {
			t.Errorf("%s: got %+v with %q, %v", ref, c, data, err)
		}
	}
	for _, user := range []*url.Userinfo{nil, url.UserPassword("me", "wrong-s3cr3t"), url.User("s3cr3t")} {
		u.User = user
		_, _, err := b.fetch(u.String(), "main")
		if err == nil || !strings.Contains(err.Error(), "asks who you are") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("as %v: got %v", user.Username(), err)
		}
	}
	if len(seen) > 0 {
		t.Errorf("anybody could read: %q", seen)
	}
}

// shown are the processes in whose arguments anybody can read a text.
func shown(text string) (all []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), text) {
			all = append(all, string(b))
		}
	}
	return all
}

// Who is interrupted leaves no git behind, and does not wait for one.
func TestInterrupted(t *testing.T) {
	b := newBed(t)
	ctx, cancel := context.WithCancel(context.Background())
	asked := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		close(asked)
		<-q.Context().Done() // which ends with git
	}))
	defer server.Close()
	go func() { <-asked; cancel() }()
	r, err := Parse(server.URL + "/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fetch(ctx, r, "", filepath.Join(b.TempDir(), "c"), os.Environ()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
