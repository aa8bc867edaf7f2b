//go:build linux

package dist

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestRpm(t *testing.T) {
	for arch, goarch := range map[string]string{"x86_64": "amd64", "aarch64": "arm64"} {
		t.Run(arch, func(t *testing.T) {
			dir := released(t)
			name := "muster-" + packageVersion + "-1"
			p, err := readRPM(one(t, dir, name+"."+arch+".rpm"))
			if err != nil {
				t.Fatal(err)
			}
			if p.name != name {
				t.Errorf("it is called %q, want %q", p.name, name)
			}
			for _, path := range append([]string{"/usr/share/zsh/site-functions/_muster", "/usr/share/licenses/muster/LICENSE"}, installed...) {
				if len(p.files[path]) == 0 {
					t.Errorf("%s is not in it, or empty", path)
				}
			}
			top := "muster-" + strings.TrimPrefix(version, "v") + "-linux-" + goarch
			archive := readArchive(t, one(t, dir, top+".tar.gz"))
			if got, want := digest(p.files["/usr/bin/muster"]), digest(archive[top+"/muster"]); got != want {
				t.Errorf("its muster is %s, and the archive's %s", got, want)
			}
			if got, want := len(manPages(p.files)), len(manPages(archive)); got != want {
				t.Errorf("it has %d manual pages, and the archive %d", got, want)
			}
		})
	}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// An rpmFile is what an rpm would install. It is read here, and not by rpm, so
// that the test needs none.
type rpmFile struct {
	name  string
	files map[string][]byte
}

// readRPM reads a package: a lead of 96 bytes, two headers, the files.
func readRPM(path string) (*rpmFile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	const lead = 96
	if len(data) < lead || !bytes.HasPrefix(data, []byte{0xed, 0xab, 0xee, 0xdb}) {
		return nil, fmt.Errorf("%s: has no lead", path)
	}
	name, _, _ := bytes.Cut(data[10:76], []byte{0})
	signatures, err := headerSize(data[lead:])
	if err != nil {
		return nil, fmt.Errorf("signatures: %w", err)
	}
	at := lead + (signatures+7)/8*8 // padded, as the second one is not
	header, err := headerSize(data[at:])
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data[at+header:]))
	if err != nil {
		return nil, err
	}
	files, err := readCpio(z)
	return &rpmFile{string(name), files}, err
}

// headerSize is the size of a header: its own 16 bytes, 16 for each entry, and
// what the entries point at.
func headerSize(b []byte) (int, error) {
	if len(b) < 16 || !bytes.HasPrefix(b, []byte{0x8e, 0xad, 0xe8, 0x01}) {
		return 0, fmt.Errorf("begins with % x", b[:min(4, len(b))])
	}
	size := 16 + 16*int(binary.BigEndian.Uint32(b[8:])) + int(binary.BigEndian.Uint32(b[12:]))
	if size > len(b) {
		return 0, fmt.Errorf("has %d bytes of %d", len(b), size)
	}
	return size, nil
}

// readCpio reads the files of a cpio archive of the "new ASCII" kind.
func readCpio(r io.Reader) (map[string][]byte, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	const head, fileSize, nameSize = 110, 6 + 6*8, 6 + 11*8
	files := map[string][]byte{}
	for at := 0; ; {
		if at+head > len(data) || !bytes.HasPrefix(data[at:], []byte("07070")) {
			return nil, fmt.Errorf("no cpio entry at %d", at)
		}
		size, err1 := strconv.ParseUint(string(data[at+fileSize:at+fileSize+8]), 16, 31)
		named, err2 := strconv.ParseUint(string(data[at+nameSize:at+nameSize+8]), 16, 31)
		content := (at + head + int(named) + 3) / 4 * 4
		end := content + int(size)
		if err1 != nil || err2 != nil || named == 0 || end > len(data) {
			return nil, fmt.Errorf("the cpio entry at %d is broken", at)
		}
		name := string(data[at+head : at+head+int(named)-1])
		if name == "TRAILER!!!" {
			return files, nil
		}
		files[strings.TrimPrefix(name, ".")] = data[content:end]
		at = (end + 3) / 4 * 4
	}
}
