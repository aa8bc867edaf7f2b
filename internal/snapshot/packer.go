package snapshot

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// few is how many new small files are stored as objects of their own. Without
// it, a store would get one more tiny pack with every change of a line.
const few = 32

// A packer stores the new content of small files. What it is given can be read
// once it is finished. It may be used from several goroutines.
type packer struct {
	w *writer

	mu      sync.Mutex
	known   map[digest]bool
	waiting []content // until there are enough of them for a pack
	file    *os.File  // nil before that
	buf     *bufio.Writer
	at      int64
	records []record
}

// content is what a small file holds.
type content struct {
	sum  digest
	text []byte
}

func newPacker(w *writer) *packer { return &packer{w: w, known: map[digest]bool{}} }

// add stores a copy of text, unless it was added before.
func (p *packer) add(sum digest, text []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[sum] {
		return nil
	}
	p.known[sum] = true
	if p.file != nil {
		return p.append(content{sum, text})
	}
	p.waiting = append(p.waiting, content{sum, bytes.Clone(text)})
	if len(p.waiting) <= few {
		return nil
	}
	return p.begin()
}

// begin starts the pack with what has been waiting for it.
func (p *packer) begin() error {
	f, err := os.OpenFile(p.w.tmpName(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return err
	}
	p.file, p.buf = f, bufio.NewWriterSize(f, 1<<20)
	n, err := p.buf.WriteString(packHeader)
	p.at = int64(n)
	for _, c := range p.waiting {
		if err != nil {
			return err
		}
		err = p.append(c)
	}
	p.waiting = nil
	p.w.reached(packBegun)
	return err
}

func (p *packer) append(c content) error {
	p.records = append(p.records, record{c.sum, p.at, uint32(len(c.text))})
	n, err := p.buf.Write(c.text)
	p.at += int64(n)
	return err
}

// finish makes everything that was added part of the store.
func (p *packer) finish() error {
	if p.file == nil {
		return p.asObjects()
	}
	if _, err := p.buf.Write(encodeIndex(p.records)); err != nil {
		return err
	}
	if err := p.buf.Flush(); err != nil {
		return err
	}
	if err := p.file.Close(); err != nil {
		return err
	}
	p.w.reached(packWritten)
	// A name that was never used: what is said of a pack is not said of another.
	name := strings.ToLower(rand.Text()) + packSuffix
	err := p.w.move(p.file.Name(), filepath.Join(p.w.packDir(), name))
	p.w.reached(packNamed)
	return err
}

func (p *packer) asObjects() error {
	for _, c := range p.waiting {
		if err := p.w.put(p.w.object(c.sum.String()), c.text); err != nil {
			return err
		}
		p.w.reached(objectNamed)
	}
	return nil
}

// close ends a packer that may not have been finished.
func (p *packer) close() {
	if p.file != nil {
		p.file.Close()
	}
}
