package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// named is how many culprits an error lists.
const named = 5

// checkSize refuses a tree that is too large and names the largest files.
func (w *walker) checkSize(limit int64) error {
	s := summary(w.sized(), 0)
	if s.Size <= limit {
		return nil
	}
	return w.over(fmt.Sprintf("%s in %d files, and a snapshot may have %s; the largest are %s",
		bytesText(s.Size), s.Files, bytesText(limit), s.LargeWords()))
}

// LargeWords names the largest of the large files, with their sizes; "" for none.
func (s Snapshot) LargeWords() string {
	var list []string
	for _, f := range s.Large[:min(named, len(s.Large))] {
		list = append(list, f.Path+" "+bytesText(f.Size))
	}
	return strings.Join(list, ", ")
}

// sized returns the files as summary wants them.
func (w *walker) sized() []entry {
	files := make([]entry, len(w.files))
	for i, at := range w.files {
		files[i] = w.entries[at]
		files[i].Sum = "unread"
	}
	return files
}

// tooMany refuses a tree with too many files and names the fullest folders.
func (w *walker) tooMany() error {
	count := map[string]int{}
	for _, e := range w.entries {
		count[parent(e.Path)]++
	}
	dirs := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	var list []string
	for _, d := range dirs[:min(named, len(dirs))] {
		list = append(list, fmt.Sprintf("%s %d", cmp.Or(d, "."), count[d]))
	}
	return w.over(fmt.Sprintf("more than %d files, which is what a snapshot may have; the fullest folders so far are %s",
		w.max, strings.Join(list, ", ")))
}

func (w *walker) over(text string) error {
	hint := "keep data and results out with lines in " + w.name(musterIgnore) + ", or choose a smaller folder"
	return &Error{Path: w.root, Text: text, Hint: hint}
}

// bytesText writes a size for people: 1.4 GiB.
func bytesText(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d bytes", n)
	}
	f, unit := float64(n)/1024, 0
	for ; f >= 1024 && unit < 3; unit++ {
		f /= 1024
	}
	return fmt.Sprintf("%.1f %s", f, []string{"KiB", "MiB", "GiB", "TiB"}[unit])
}
