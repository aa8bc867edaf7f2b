package git

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text, url string
		login     bool
		err       string
	}{
		{"https://example.org/a/b.git", "https://example.org/a/b.git", false, ""},
		{"https://me:s3cret@example.org/a", "https://example.org/a", true, ""},
		{"https://s3cret@example.org/a", "https://example.org/a", true, ""},
		{"ssh://git:s3cret@example.org:22/a", "ssh://git@example.org:22/a", false, ""},
		{"git@example.org:a/b.git", "git@example.org:a/b.git", false, ""},
		{"/srv/a/../b.git", "/srv/b.git", false, ""},
		{"file:///srv/b.git", "file:///srv/b.git", false, ""},
		{"", "", false, "is no URL"},
		{"--upload-pack=touch /tmp/x", "", false, "is no URL"},
		{"ext::sh -c touch% x", "", false, "is no URL"},
		{"ext://sh", "", false, "ext is no way to a repository"},
		{"fd::17", "", false, "is no URL"},
		{"ssh://-oProxyCommand=touch/x", "", false, "is no URL"},
		{"ssh://-l@host/x", "", false, "is no URL"},
		{"-oProxyCommand=x:y", "", false, "is no URL"},
		{"https://me:s3c%ret@example.org/a", "", false, "is no URL"},
		{"https://example.org/a?private_token=s3cret", "", false, "may hide a password"},
		{"https://example.org/a\nb", "", false, "is no URL"},
		{"some/folder", "", false, "no absolute path"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r, err := Parse(tt.text)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "s3cret") {
					t.Fatalf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || r.URL != tt.url || (r.login != nil) != tt.login {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
}

func TestCheckRef(t *testing.T) {
	for _, ok := range []string{"", "main", "feature/x", "v1.0", "abc1234", "refs/pull/3/head", "a@b", "+x"} {
		if err := CheckRef(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"-x", "--upload-pack=x", "a:b", "a..b", "a b", "x^{}", "a~1", "a*", "@{u}", "a\x00", "/a", "a/"} {
		if CheckRef(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestRedact(t *testing.T) {
	got := Redact("fatal: Authentication failed for 'https://me:s3cret@example.org/a/' and http://token@x/y, git@host:z")
	if want := "fatal: Authentication failed for 'https://example.org/a/' and http://x/y, git@host:z"; got != want {
		t.Errorf("got %s", got)
	}
}
