package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"time"
)

// A stamp is what changes when a file does, as the kernel tells it without
// reading the file. Who puts the modification time back still moves ctime.
type stamp struct {
	Dev, Ino           uint64
	Size, Mtime, Ctime int64 // times in nanoseconds
}

// racy is how long before a look a file must have changed last for its stamp to
// be trusted: a change within the same tick of a file system's clock would not
// show. The coarsest clock, that of FAT, ticks every two seconds.
const racy = 3 * time.Second

func (s stamp) settledAt(now time.Time) bool {
	return max(s.Mtime, s.Ctime) < now.Add(-racy).UnixNano()
}

// seen is the content of files that a Take has read: those that have the same
// stamp again are not read again. It is a help only: one that is missing or
// damaged is as good as an empty one, and whether the store has the content is
// looked up all the same.
type seen map[stamp]digest

const (
	seenHeader   = "muster seen 1\n"
	sightingLen  = 5*8 + sha256.Size
	seenOverhead = len(seenHeader) + sha256.Size
)

func (list seen) encode() []byte {
	out := make([]byte, 0, len(list)*sightingLen+seenOverhead)
	out = append(out, seenHeader...)
	for s, sum := range list {
		for _, n := range []uint64{s.Dev, s.Ino, uint64(s.Size), uint64(s.Mtime), uint64(s.Ctime)} {
			out = binary.LittleEndian.AppendUint64(out, n)
		}
		out = append(out, sum[:]...)
	}
	check := sha256.Sum256(out)
	return append(out, check[:]...)
}

// decodeSeen reads what encode wrote, and nothing from anything else.
func decodeSeen(text []byte) seen {
	if len(text) < seenOverhead || (len(text)-seenOverhead)%sightingLen != 0 || !bytes.HasPrefix(text, []byte(seenHeader)) {
		return nil
	}
	body, check := text[:len(text)-sha256.Size], text[len(text)-sha256.Size:]
	if sha256.Sum256(body) != [sha256.Size]byte(check) {
		return nil
	}
	body = body[len(seenHeader):]
	list := make(seen, len(body)/sightingLen)
	for ; len(body) > 0; body = body[sightingLen:] {
		n := func(i int) uint64 { return binary.LittleEndian.Uint64(body[i*8:]) }
		list[stamp{n(0), n(1), int64(n(2)), int64(n(3)), int64(n(4))}] = digest(body[5*8 : sightingLen])
	}
	return list
}

// seenIn lists the files of a tree whose stamps can be relied on from now on:
// those that nothing had written to for a while when the look at them began.
func seenIn(t *tree, sums []digest, began time.Time) seen {
	list := make(seen, len(sums))
	for i, s := range t.stamps {
		if t.dev != 0 && s.Dev == t.dev && s.settledAt(began) {
			list[s] = sums[i]
		}
	}
	return list
}

func (s *Store) seenDir() string { return filepath.Join(s.Dir, "seen") }

// seenFile is where the files of one folder are listed.
func (s *Store) seenFile(root string) string { return filepath.Join(s.seenDir(), sum([]byte(root))) }

// loadSeen returns the list of a folder.
func (s *Store) loadSeen(root string) seen {
	text, err := os.ReadFile(s.seenFile(root))
	if err != nil {
		return nil
	}
	return decodeSeen(text)
}

// saveSeen replaces the list of a folder. One that is still right is only
// marked as used: see pruneSeen. Without a list the next Take reads all files,
// so that it cannot be written is no error.
func (w *writer) saveSeen(root string, was, now seen) {
	name := w.seenFile(root)
	if !maps.Equal(was, now) {
		_ = w.put(name, now.encode())
		return
	}
	t := time.Now()
	_ = os.Chtimes(name, t, t)
}
