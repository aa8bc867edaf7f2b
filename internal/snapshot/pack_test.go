package snapshot

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// samplePack is the text of a pack that holds some content.
func samplePack(texts ...string) []byte {
	out := []byte(packHeader)
	var records []record
	for _, text := range texts {
		records = append(records, record{sha256.Sum256([]byte(text)), int64(len(out)), uint32(len(text))})
		out = append(out, text...)
	}
	return append(out, encodeIndex(records)...)
}

func TestIndex(t *testing.T) {
	var texts []string
	for i := range 100 {
		texts = append(texts, strings.Repeat("x", i))
	}
	file := samplePack(texts...)
	x, err := readIndex(bytes.NewReader(file), int64(len(file)))
	if err != nil || x.len() != 100 {
		t.Fatalf("an index of %d records (%v)", x.len(), err)
	}
	for _, text := range texts {
		r, ok := x.find(sha256.Sum256([]byte(text)))
		if !ok || string(file[r.at:][:r.size]) != text {
			t.Errorf("%d bytes: found %v at %d", len(text), ok, r.at)
		}
	}
	if r, ok := x.find(sha256.Sum256([]byte("missing"))); ok {
		t.Errorf("found what is missing: %v", r)
	}
}

func TestDamagedIndex(t *testing.T) {
	good := samplePack("one", "two", "three")
	outside := append([]byte(packHeader), encodeIndex([]record{{at: int64(len(packHeader)), size: 1}})...)
	before := append([]byte(packHeader), encodeIndex([]record{{at: 0, size: 1}})...)
	wrapped := append([]byte(packHeader), encodeIndex([]record{{at: -1, size: 1}})...)
	double := samplePack("one", "one")
	for name, file := range map[string][]byte{
		"nothing":                     nil,
		"only the header":             []byte(packHeader),
		"zeros":                       make([]byte, len(good)),
		"the end is missing":          good[:len(good)-1],
		"more after the end":          append(bytes.Clone(good), 0),
		"another header":              append([]byte("muster pack 2\n"), good[len(packHeader):]...),
		"too many records":            flip(good, len(good)-trailerLen+3),
		"a record is damaged":         flip(good, len(good)-trailerLen-1),
		"the check of the index is":   flip(good, len(good)-len(packEnd)-1),
		"content outside of the pack": outside,
		"content in the header":       before,
		"content before the start":    wrapped,
		"twice the same":              double,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := readIndex(bytes.NewReader(file), int64(len(file))); err != errDamagedPack {
				t.Errorf("got %v, want %v", err, errDamagedPack)
			}
		})
	}
}

// flip returns a copy in which one byte is another.
func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 0xff
	return b
}

// FuzzPack looks for files that crash, or whose records lead out of them.
func FuzzPack(f *testing.F) {
	f.Add(samplePack("one", "two"))
	f.Add(samplePack())
	f.Add([]byte(packHeader))
	f.Fuzz(func(t *testing.T, file []byte) {
		// Most of what is tried has no right check: try also with one.
		sealed := append([]byte(packHeader), file...)
		if n := len(file) / recordLen; n > 0 {
			var list []record
			for i := range n {
				list = append(list, index(file).record(i))
			}
			sealed = append(sealed, encodeIndex(list)...)
		}
		for _, file := range [][]byte{file, sealed} {
			x, err := readIndex(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				continue
			}
			for i := range x.len() {
				r := x.record(i)
				_ = file[r.at:][:r.size]
				if got, ok := x.find(r.sum); !ok || got != r {
					t.Fatalf("record %d is found as %v, %v", i, got, ok)
				}
			}
		}
	})
}

func TestSeenSurvives(t *testing.T) {
	list := seen{}
	for i := range 10 {
		list[stamp{1, uint64(i + 1), int64(i), -5, 1 << 60}] = sha256.Sum256(fmt.Append(nil, i))
	}
	text := list.encode()
	got := decodeSeen(text)
	if len(got) != len(list) {
		t.Fatalf("%d entries became %d", len(list), len(got))
	}
	for s, sum := range list {
		if got[s] != sum {
			t.Errorf("%v became %v", s, got[s])
		}
	}
	for at := range text {
		if got := decodeSeen(flip(text, at)); got != nil {
			t.Fatalf("with byte %d damaged it still has %d entries", at, len(got))
		}
		if got := decodeSeen(text[:at]); got != nil {
			t.Fatalf("cut after %d bytes it still has %d entries", at, len(got))
		}
	}
}

func FuzzSeen(f *testing.F) {
	f.Add(seen{{1, 2, 3, 4, 5}: {6}}.encode())
	f.Add([]byte(seenHeader))
	f.Fuzz(func(t *testing.T, text []byte) {
		list := decodeSeen(text)
		if again := decodeSeen(list.encode()); len(again) != len(list) {
			t.Errorf("%d entries became %d", len(list), len(again))
		}
	})
}
