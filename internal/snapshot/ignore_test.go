package snapshot

import (
	"strings"
	"testing"
)

// ignoreCases are paths and whether a .gitignore at the root ignores them. A
// path that ends with a slash is a folder. They are also shown to git itself.
var ignoreCases = []struct {
	name    string
	lines   string
	ignored string
	kept    string
}{
	{"a name matches at every level", "core", "core a/core core/", "cores a/score"},
	{"a leading slash anchors", "/core", "core core/", "a/core"},
	{"a slash in the middle anchors", "a/core", "a/core", "b/a/core core"},
	{"a trailing slash means folders", "build/", "build/ a/build/", "build a/build"},
	{"anchored folder", "/build/", "build/", "a/build/ build"},
	{"a star stops at slashes", "/*.py", "x.py .py", "a/x.py"},
	{"a star in a name", "*.py[cod]", "x.pyc a/x.pyo", "x.py x.pyx"},
	{"a star in the middle", "a*b", "ab axxb", "a/b axxbc"},
	{"a star for one folder", "a/*/b", "a/x/b", "a/b a/x/y/b"},
	{"a question mark", "a?c", "abc a/axc", "ac abbc a/c"},
	{"stars before a slash", "**/foo", "foo a/foo a/b/foo", "afoo"},
	{"stars between slashes", "a/**/b", "a/b a/x/b a/x/y/b", "ab a/xb"},
	{"stars after a slash", "a/**", "a/x a/x/y", "a b/a/x"},
	{"stars twice", "**/a/**/b", "a/b x/a/y/b", "b a"},
	{"stars inside a name are one", "a**b", "axxb", "a/b"},
	{"stars alone", "**", "a a/b", ""},
	{"many stars", "a/****/b", "a/b a/x/y/b", "ab"},
	{"a negation", "*.log\n!keep.log", "x.log a/y.log", "keep.log a/keep.log"},
	{"the last line wins", "!x\nx", "x", "y"},
	{"negated, then ignored again", "*.o\n!a.o\na.o", "a.o b.o", "b.c"},
	{"a comment", "#x\nx", "x", "#x"},
	{"an escaped hash", `\#x`, "#x", "x"},
	{"an escaped exclamation mark", `\!x`, "!x", "x"},
	{"an escaped star", `a\*`, "a*", "ab"},
	{"an escaped letter", `\a`, "a", "b"},
	{"a lone backslash matches nothing", `a\`, "", `a a\`},
	{"a class", "[abc]x", "ax bx", "dx x"},
	{"a range", "[a-c]x", "ax bx cx", "dx -x"},
	{"a negated class", "[!a-c]x", "dx -x", "ax bx"},
	{"a class negated with a caret", "[^a]x", "bx ^x", "ax"},
	{"a bracket first is a member", "[]a]x", "]x ax", "bx"},
	{"a dash at the end is a member", "[a-]x", "ax -x", "bx"},
	{"an escape in a class", `[\]a]x`, "]x ax", `\x`},
	{"a named class", "v[[:digit:]]", "v1", "va v"},
	{"a negated named class", "v[![:digit:]]", "va", "v1"},
	{"an unknown named class matches nothing", "v[[:digits:]]", "", "v1 vd"},
	{"an unclosed class matches nothing", "v[a", "", "va v[a"},
	{"half a named class", "[[:a]x", "[x :x ax", "bx"},
	{"a class never matches a slash", "a[/]b", "", "a/b"},
	{"a negated class never matches a slash", "a[!x]b", "ayb", "a/b"},
	{"a range over the slash", "/a[.-0]b", "a.b a0b", "a/b"},
	{"trailing spaces do not count", "x  ", "x", "y"},
	{"an escaped trailing space counts", `x\ `, "x_", "x"},
	{"carriage returns do not count", "x\r\ny\r", "x y", "z"},
	{"a byte order mark does not count", "\xef\xbb\xbfx", "x", "y"},
	{"empty lines", "\n\n  \n", "", "a b"},
	{"a lone slash matches nothing", "/", "", "a a/"},
	{"a lone exclamation mark", "x\n!", "x", "!"},
	{"everything but", "/*\n!/keep", "a b", "keep"},
	{"hidden files are not special", "*", ".a a", ""},
	{"several bytes are several", "a?c", "", "aéc"},
	{"bytes", "a??c", "aéc", ""},
	{"two trailing slashes match nothing", "a//", "", "a a/"},
	{"stars and an escaped slash", `**\/b`, "a/b", "b"},
}

func TestIgnore(t *testing.T) {
	for _, c := range ignoreCases {
		t.Run(c.name, func(t *testing.T) {
			ig := (*ignorer)(nil).below(".", parseRules([]byte(c.lines)), nil)
			for _, want := range []struct {
				paths   string
				ignored bool
			}{{c.ignored, true}, {c.kept, false}} {
				for p := range strings.FieldsSeq(want.paths) {
					p, isDir := strings.CutSuffix(strings.ReplaceAll(p, "_", " "), "/")
					if got := ig.ignored(p, isDir); got != want.ignored {
						t.Errorf("%q ignores %q: %v, want %v", c.lines, p, got, want.ignored)
					}
				}
			}
		})
	}
}

func TestIgnoreLevels(t *testing.T) {
	rules := func(s string) []rule { return parseRules([]byte(s)) }
	root := (*ignorer)(nil).below(".", rules("*.log\n/data\n"), rules("!data\nsecret\n"))
	sub := root.below("sub", rules("!keep.log\nown\n/data\nsecret2\n"), rules("!secret\n"))
	deep := sub.below("sub/deep", nil, rules("own\n"))
	for _, c := range []struct {
		name string
		ig   *ignorer
		path string
		want bool
	}{
		{"the root's rule holds below", sub, "sub/x.log", true},
		{"a deeper file may re-include", sub, "sub/keep.log", false},
		{"and only for its own folder", root, "keep.log", true},
		{"anchors are relative to the file", root, "data", false},
		{"musterignore re-includes what a deeper gitignore ignores", sub, "sub/data", false},
		{"musterignore ignores more", root, "secret", true},
		{"a deeper musterignore wins", sub, "sub/secret", false},
		{"a rule that nothing contradicts", sub, "sub/secret2", true},
		{"a folder without rules of its own", deep, "sub/deep/own", true},
		{"a folder that no rule speaks of", deep, "sub/deep/other", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.ig.ignored(c.path, false); got != c.want {
				t.Errorf("ignored(%q) = %v, want %v", c.path, got, c.want)
			}
		})
	}
}

// FuzzIgnore looks for patterns that crash, and for paths that a pattern and
// its negation disagree about.
func FuzzIgnore(f *testing.F) {
	for _, c := range ignoreCases {
		f.Add(c.lines, c.ignored+c.kept, true)
	}
	f.Add(strings.Repeat("*a", 50), strings.Repeat("a", 100), false)
	f.Fuzz(func(t *testing.T, lines, path string, isDir bool) {
		ig := (*ignorer)(nil).below(".", parseRules([]byte(lines)), nil)
		ig.ignored(path, isDir)
		line, _, _ := strings.Cut(lines, "\n")
		if strings.HasPrefix(line, "!") || strings.HasPrefix(line, "\xef\xbb\xbf") || line == "" || line[0] == '#' {
			return
		}
		both := (*ignorer)(nil).below(".", parseRules([]byte(line+"\n!"+line)), nil)
		if both.ignored(path, isDir) {
			t.Errorf("%q and its negation ignore %q", line, path)
		}
	})
}
