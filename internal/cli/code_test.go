package cli

import (
	"testing"

	"muster.dev/muster/internal/job"
)

func TestCodeFlag(t *testing.T) {
	for _, tt := range []struct {
		text string
		want job.Code
	}{
		{".", job.Code{Path: "/here"}},
		{"/a@b", job.Code{Path: "/a@b"}},
		{"git+https://example.org/a/b", job.Code{Git: "https://example.org/a/b"}},
		{"git+https://example.org/a/b@feature/x", job.Code{Git: "https://example.org/a/b", Ref: "feature/x"}},
		{"git+https://me:pw@example.org/a@v1", job.Code{Git: "https://me:pw@example.org/a", Ref: "v1"}},
		{"git+ssh://git@example.org/a", job.Code{Git: "ssh://git@example.org/a"}},
		{"git+git@example.org:a/b@main", job.Code{Git: "git@example.org:a/b", Ref: "main"}},
		{"git+git@example.org:a/b", job.Code{Git: "git@example.org:a/b"}},
		{"git+../repo@main", job.Code{Git: "/repo", Ref: "main"}},
		{"git+ext::sh", job.Code{Git: "ext::sh"}},
	} {
		if got := *codeFlag(tt.text, "/here"); got != tt.want {
			t.Errorf("%s: got %+v", tt.text, got)
		}
	}
}
