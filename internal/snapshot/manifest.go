package snapshot

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// header is the first line of every manifest.
const header = `{"snapshot":1}` + "\n"

// An entry is one line of a manifest: a file (Sum is set), a symbolic link
// (Link is set) or a folder with nothing in it.
type entry struct {
	Path string `json:"path"`
	Sum  string `json:"sha256,omitempty"`
	Size int64  `json:"size,omitempty"`
	Exec bool   `json:"exec,omitempty"`
	Link string `json:"link,omitempty"`
}

func (e entry) isFile() bool { return e.Sum != "" }

func sum(b []byte) string { return digest(sha256.Sum256(b)).String() }

func isSum(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// encode writes a manifest: one entry a line, sorted by path.
func encode(entries []entry) []byte {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.Path, b.Path) })
	out := bytes.NewBufferString(header)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		_ = enc.Encode(e) // strings and numbers into memory: cannot fail
	}
	return out.Bytes()
}

// decode reads a manifest that anyone may have written: what it returns can be
// extracted without leaving the folder that it is extracted into.
func decode(text []byte) ([]entry, error) {
	rest, ok := bytes.CutPrefix(text, []byte(header))
	if !ok {
		return nil, errors.New("not a list of files that this version can read")
	}
	var entries []entry
	dec := json.NewDecoder(bytes.NewReader(rest))
	dec.DisallowUnknownFields()
	for {
		var e entry
		err := dec.Decode(&e)
		if err == io.EOF {
			return entries, checkTree(entries)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", len(entries)+1, err)
		}
		if err := e.check(); err != nil {
			return nil, err
		}
		if n := len(entries); n > 0 && entries[n-1].Path >= e.Path {
			return nil, fmt.Errorf("%q: not in order", e.Path)
		}
		entries = append(entries, e)
	}
}

// check reports what is wrong with an entry by itself.
func (e entry) check() error {
	switch {
	case !validName(e.Path) || !fs.ValidPath(e.Path) || e.Path == ".":
		return fmt.Errorf("%q: not a path inside a folder", e.Path)
	case e.Link != "" && (e.Sum != "" || e.Size != 0 || e.Exec):
		return fmt.Errorf("%q: both a link and a file", e.Path)
	case !validName(e.Link):
		return fmt.Errorf("%q: the link's target is not text", e.Path)
	case e.Sum == "" && (e.Size != 0 || e.Exec):
		return fmt.Errorf("%q: a file without content", e.Path)
	case e.Sum != "" && !isSum(e.Sum), e.Size < 0:
		return fmt.Errorf("%q: not a SHA-256 and a size", e.Path)
	}
	return nil
}

// validName reports whether s survives JSON and the system calls unchanged.
func validName(s string) bool {
	return utf8.ValidString(s) && !strings.Contains(s, "\x00")
}

// checkTree reports what is wrong with the entries together.
func checkTree(entries []entry) error {
	links := linksOf(entries)
	at := make(map[string]bool, len(entries))
	for _, e := range entries {
		at[e.Path] = true
	}
	for _, e := range entries {
		for dir := path.Dir(e.Path); dir != "."; dir = path.Dir(dir) {
			if at[dir] {
				return fmt.Errorf("%q: inside %q, which is no folder or an empty one", e.Path, dir)
			}
		}
		if e.Link != "" && leadsOut(e.Path, links) {
			return fmt.Errorf("%q: a link that leads out of the folder", e.Path)
		}
	}
	return nil
}

func linksOf(entries []entry) map[string]string {
	links := map[string]string{}
	for _, e := range entries {
		if e.Link != "" {
			links[e.Path] = e.Link
		}
	}
	return links
}

// leadsOut reports whether following the link at name leaves the tree at any
// step, taking the tree's other links into account. A link that leads nowhere
// or round in circles stays inside.
func leadsOut(name string, links map[string]string) bool {
	at, todo := "", strings.Split(name, "/")
	for hops := 0; len(todo) > 0; {
		step := todo[0]
		todo = todo[1:]
		switch step {
		case "", ".":
			continue
		case "..":
			if at == "" {
				return true
			}
			at = parent(at)
			continue
		}
		at = path.Join(at, step)
		target, ok := links[at]
		if !ok {
			continue
		}
		if path.IsAbs(target) {
			return true
		}
		if hops++; hops > maxHops {
			return false
		}
		at = parent(at)
		todo = append(strings.Split(target, "/"), todo...)
	}
	return false
}

// maxHops is where the kernel gives up following links (ELOOP).
const maxHops = 40

func parent(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

// summary counts the files; folders and links have no size.
func summary(entries []entry, largeOver int64) Snapshot {
	var s Snapshot
	for _, e := range entries {
		if !e.isFile() {
			continue
		}
		s.Files++
		s.Size += e.Size
		if e.Size > largeOver {
			s.Large = append(s.Large, LargeFile{e.Path, e.Size})
		}
	}
	slices.SortFunc(s.Large, func(a, b LargeFile) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Path, b.Path))
	})
	return s
}
