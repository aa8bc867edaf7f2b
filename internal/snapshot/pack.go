package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sort"
)

// A pack holds the content of many small files in one file, which is written
// once and never changed:
//
//	packHeader
//	content, one after another
//	index    a record for each: SHA-256, offset, size; sorted by SHA-256
//	trailer  the number of records, the SHA-256 of the index, packEnd
//
// The end is written last, so that a pack that was cut short has none.
const (
	packHeader = "muster pack 1\n"
	packEnd    = "packend\n"
	recordLen  = sha256.Size + 8 + 4
	trailerLen = 8 + sha256.Size + len(packEnd)
)

// errDamagedPack says that a file is no pack, or no longer.
var errDamagedPack = errors.New("not a whole pack")

// A digest is the SHA-256 of some content.
type digest [sha256.Size]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// parseSum reads what String writes; what is no sum becomes zero, the digest of
// nothing that exists.
func parseSum(s string) (d digest) {
	if isSum(s) {
		_, _ = hex.Decode(d[:], []byte(s))
	}
	return d
}

// A record says where in a pack some content is.
type record struct {
	sum  digest
	at   int64
	size uint32
}

// encodeIndex writes the records of a pack and the trailer.
func encodeIndex(records []record) []byte {
	slices.SortFunc(records, func(a, b record) int { return bytes.Compare(a.sum[:], b.sum[:]) })
	out := make([]byte, 0, len(records)*recordLen+trailerLen)
	for _, r := range records {
		out = append(out, r.sum[:]...)
		out = binary.LittleEndian.AppendUint64(out, uint64(r.at))
		out = binary.LittleEndian.AppendUint32(out, r.size)
	}
	check := sha256.Sum256(out)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(records)))
	out = append(out, check[:]...)
	return append(out, packEnd...)
}

// An index is the records of a pack as they are in the file: a store may have
// hundreds of thousands, most of which nobody asks for.
type index []byte

func (x index) len() int { return len(x) / recordLen }

func (x index) record(i int) record {
	b := x[i*recordLen:][:recordLen]
	return record{
		sum:  digest(b[:sha256.Size]),
		at:   int64(binary.LittleEndian.Uint64(b[sha256.Size:])),
		size: binary.LittleEndian.Uint32(b[sha256.Size+8:]),
	}
}

func (x index) find(sum digest) (record, bool) {
	i, ok := sort.Find(x.len(), func(i int) int {
		return bytes.Compare(sum[:], x[i*recordLen:][:sha256.Size])
	})
	if !ok {
		return record{}, false
	}
	return x.record(i), true
}

// check reports whether the records are in order and inside of the content,
// which ends at end.
func (x index) check(end int64) bool {
	for i := range x.len() {
		r := x.record(i)
		inside := r.size <= small && r.at >= int64(len(packHeader)) && r.at <= end-int64(r.size)
		if !inside || i > 0 && bytes.Compare(x[(i-1)*recordLen:][:sha256.Size], r.sum[:]) >= 0 {
			return false
		}
	}
	return true
}

// readIndex reads the index of a pack of so many bytes. What is no whole pack
// is errDamagedPack.
func readIndex(f io.ReaderAt, size int64) (index, error) {
	room := size - int64(len(packHeader)) - int64(trailerLen)
	if room < 0 {
		return nil, errDamagedPack
	}
	var head [len(packHeader)]byte
	var tail [trailerLen]byte
	if err := readAt(f, head[:], 0); err != nil {
		return nil, err
	}
	if err := readAt(f, tail[:], size-int64(trailerLen)); err != nil {
		return nil, err
	}
	count := binary.LittleEndian.Uint64(tail[:])
	if string(head[:]) != packHeader || string(tail[8+sha256.Size:]) != packEnd || count > uint64(room/recordLen) {
		return nil, errDamagedPack
	}
	x := make(index, count*recordLen)
	start := size - int64(trailerLen) - int64(len(x))
	if err := readAt(f, x, start); err != nil {
		return nil, err
	}
	if sha256.Sum256(x) != [sha256.Size]byte(tail[8:8+sha256.Size]) || !x.check(start) {
		return nil, errDamagedPack
	}
	return x, nil
}

// readAt fills p. A file that ends before is damaged.
func readAt(f io.ReaderAt, p []byte, at int64) error {
	n, err := f.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return errDamagedPack
	}
	return err
}

// A pack is one that is in the store.
type pack struct {
	name  string
	size  int64
	index index
	bad   map[digest]bool // what was found damaged: as if it were not there
}

func (p *pack) find(sum digest) (record, bool) {
	r, ok := p.index.find(sum)
	return r, ok && !p.bad[sum]
}

func openPack(name string) (*pack, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	x, err := readIndex(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	bad, err := readBad(name + badSuffix)
	return &pack{name: name, size: info.Size(), index: x, bad: bad}, err
}

// badSuffix is that of the list of what is damaged in a pack: one sum a line.
const badSuffix = ".bad"

func readBad(name string) (map[digest]bool, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	bad := map[digest]bool{}
	for line := range bytes.Lines(text) {
		bad[parseSum(string(bytes.TrimSpace(line)))] = true
	}
	return bad, err
}

// markBad notes that some content of a pack is damaged, so that the next Take
// writes it again; the rest of the pack stays of use. When that fails too, the
// next Extract will find it again.
func (p *pack) markBad(sum digest) {
	f, err := os.OpenFile(p.name+badSuffix, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(sum.String() + "\n")
	_ = f.Close()
}
