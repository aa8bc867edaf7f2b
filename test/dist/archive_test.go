//go:build linux

package dist

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// beside are the files next to the binary in every archive.
var beside = []string{
	"LICENSE", "README.md", "completions/muster.bash", "completions/muster.zsh", "completions/muster.fish",
	"man/muster.1.gz", "man/muster-run.1.gz",
}

func TestArchives(t *testing.T) {
	for platform, check := range map[string]func([]byte) error{
		"linux-amd64":  func(b []byte) error { return checkELF(b, elf.EM_X86_64) },
		"linux-arm64":  func(b []byte) error { return checkELF(b, elf.EM_AARCH64) },
		"darwin-amd64": func(b []byte) error { return checkMachO(b, macho.CpuAmd64) },
		"darwin-arm64": func(b []byte) error { return checkMachO(b, macho.CpuArm64) },
	} {
		t.Run(platform, func(t *testing.T) {
			name := "muster-" + strings.TrimPrefix(version, "v") + "-" + platform
			files := readArchive(t, one(t, released(t), name+".tar.gz"))
			for _, f := range beside {
				if len(files[name+"/"+f]) == 0 {
					t.Errorf("%s is not in it, or empty", f)
				}
			}
			if err := check(files[name+"/muster"]); err != nil {
				t.Errorf("muster: %v", err)
			}
		})
	}
}

// checkELF checks that a program is for a machine and needs nothing else of it.
func checkELF(program []byte, machine elf.Machine) error {
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return err
	}
	if f.Machine != machine {
		return fmt.Errorf("is for %v, want %v", f.Machine, machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("is not static")
		}
	}
	return nil
}

func checkMachO(program []byte, cpu macho.Cpu) error {
	f, err := macho.NewFile(bytes.NewReader(program))
	if err != nil {
		return err
	}
	if f.Cpu != cpu {
		return fmt.Errorf("is for %v, want %v", f.Cpu, cpu)
	}
	return nil
}

// readArchive returns the files of an archive. All are root's, of the time of
// the sources, and may be read by anybody.
func readArchive(t *testing.T, path string) map[string][]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.ModTime.Unix() != epoch || h.Mode&0o444 != 0o444 || h.Mode&0o022 != 0 {
			t.Errorf("%s: owner %d:%d, time %v, mode %o", h.Name, h.Uid, h.Gid, h.ModTime, h.Mode)
		}
		if h.Typeflag == tar.TypeReg {
			if files[h.Name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// manPages are the pages in an archive or a package, by their last name.
func manPages(names map[string][]byte) map[string]bool {
	pages := map[string]bool{}
	for name := range names {
		if strings.HasSuffix(name, ".1.gz") {
			pages[name[strings.LastIndex(name, "/")+1:]] = true
		}
	}
	return pages
}
