//go:build linux

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
	odd     = regexp.MustCompile(`[^\w\- ]`)
)

// A link to a file or a heading of ours leads there.
func TestLinksResolve(t *testing.T) {
	files := append(documents(t), "ARCHITECTURE.md", "CONTRIBUTING.md")
	for _, document := range files {
		text := fenced.ReplaceAllString(read(t, document), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, part, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			if target == "" {
				target = filepath.Base(document)
			}
			path := filepath.Join(filepath.Dir(document), target)
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", document, m[1])
				continue
			}
			if part != "" && !anchors(read(t, path))[part] {
				t.Errorf("%s: the link %s leads to no heading", document, m[1])
			}
		}
	}
}

// Every document can be found from the README.
func TestDocumentsAreLinked(t *testing.T) {
	readme := read(t, "README.md")
	for _, document := range documents(t)[1:] {
		if !strings.Contains(readme, "]("+document+")") {
			t.Errorf("README.md has no link to %s", document)
		}
	}
}

// anchors are the names that a Markdown page gives its headings.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		all[strings.ReplaceAll(odd.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return all
}
