//go:build linux

package script

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// passing is what differs from run to run, and what scrub puts in its place.
var passing = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`\b([a-z0-9][a-z0-9-]*)-[abcdefghjkmnpqrstuvwxyz23456789]{4}\b`), "$1-ID"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d\.\d\d\d?\b`), "CLOCK"},
	{regexp.MustCompile(`, pid \d+`), ""}, // not known of those that lived short
	{regexp.MustCompile(`\b\d+\.\ds\b`), "TOOK"},
	{regexp.MustCompile(`\b\d+s ago\b|\bjust now\b`), "AGO"},
	{regexp.MustCompile(`local: \d+ cores`), "local: N cores"},
	{regexp.MustCompile(`@[0-9a-f]{6}\b`), "@HASH"},
}

// scrub FILE OUT writes a copy of a file, or of stdout or stderr, without what
// differs from run to run. Columns are kept apart by two spaces.
func scrub(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "scrub FILE OUT")
	text := ts.ReadFile(args[0])
	host, err := os.Hostname()
	ts.Check(err)
	text = strings.ReplaceAll(text, sceneOf(ts).work, "WORK")
	text = regexp.MustCompile(`\bon `+regexp.QuoteMeta(host)+`\b`).ReplaceAllString(text, "on HOST")
	for _, p := range passing {
		text = p.find.ReplaceAllString(text, p.put)
	}
	text = regexp.MustCompile(`(\S)   *`).ReplaceAllString(text, "$1  ")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}

// private DIR demands that everything in it is for its user only.
func private(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "private DIR")
	files := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		files++
		if d.Type() == fs.ModeSocket { // its folder protects it, and it asks who is there
			return nil
		}
		if d.Name() == "code" { // the user's own modes, in a folder that nobody else can enter
			return fs.SkipDir
		}
		if mode := st.Mode().Perm(); mode&0o077 != 0 {
			return fmt.Errorf("%s has mode %#o", path, mode)
		}
		return nil
	}))
	if files < 5 {
		ts.Fatalf("%s is all but empty", args[0])
	}
}

// tmpfs DIR OPTIONS mounts a file system of its own there.
func tmpfs(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "tmpfs DIR OPTIONS")
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	flags := uintptr(0)
	options := strings.TrimPrefix(args[1], "ro,")
	if options != args[1] {
		flags = unix.MS_RDONLY
	}
	ts.Check(unix.Mount("tmpfs", dir, "tmpfs", flags, options))
	ts.Defer(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
}

// deep NAME sets a variable to the path of a folder longer than 108 bytes.
func deep(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "deep NAME")
	ts.Setenv(args[0], ts.MkAbs(strings.Repeat(strings.Repeat("d", 50)+"/", 4)+"state"))
}

// jsonpath PATH REGEXP matches one value of the JSON in stdout: first.task.role,
// or 0.id in a list.
func jsonPath(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2, "[!] jsonpath PATH REGEXP")
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for key := range strings.SplitSeq(args[0], ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n >= len(at) {
				ts.Fatalf("%s: there is no %s in a list of %d", args[0], key, len(at))
			}
			v = at[n]
		default:
			v = nil
		}
	}
	text := fmt.Sprint(v)
	if v == nil {
		text = ""
	}
	if regexp.MustCompile("^(?:"+args[1]+")$").MatchString(text) == neg {
		ts.Fatalf("%s is %q", args[0], text)
	}
}
