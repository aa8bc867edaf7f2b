package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
		path string // of the error, below the root
		text string
		hint string
	}{
		{"an absolute link", func(t *testing.T, dir string) { link(t, dir, "l", "/etc/passwd") },
			"l", "absolute target, /etc/passwd", "/l in "},
		{"an absolute link to the inside", func(t *testing.T, dir string) { link(t, dir, "l", filepath.Join(dir, "train.py")) },
			"l", "absolute target", "make it relative"},
		{"a link to the parent", func(t *testing.T, dir string) { link(t, dir, "lib/l", "../../x") },
			"lib/l", "leads out of the folder, to ../../x", "/lib/l in "},
		{"a link out by way of another link", func(t *testing.T, dir string) {
			link(t, dir, "lib/a/up", "../..")
			link(t, dir, "l", "lib/a/up/../secret")
		}, "l", "leads out of the folder", ".musterignore"},
		{"a named pipe", func(t *testing.T, dir string) {
			if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "pipe", "a named pipe", "/pipe in "},
		{"a socket", func(t *testing.T, dir string) {
			t.Chdir(dir) // socket paths are short
			l, err := net.Listen("unix", "sock")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
		}, "sock", "a socket", "/sock in "},
		{"a name that is not text", func(t *testing.T, dir string) { write(t, dir, "a\xff", "") },
			"a\xff", "not UTF-8", "rename it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := newStore(t), sample(t)
			c.make(t, dir)
			refused(t, s, dir, Options{}, &Error{Path: filepath.Join(dir, c.path), Text: c.text, Hint: c.hint})
			write(t, dir, musterIgnore, "/"+c.path+"\n")
			take(t, s, dir) // the advice works
		})
	}
}

// refused checks that Take fails with an error that has want's parts.
func refused(t *testing.T, s *Store, dir string, o Options, want *Error) {
	t.Helper()
	_, err := s.Take(context.Background(), dir, o)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("Take says %v, want an error about %s", err, want.Path)
	}
	if e.Path != want.Path || !strings.Contains(e.Error(), want.Text) || !strings.Contains(e.Hint, want.Hint) {
		t.Errorf("error is %q, hint %q; want path %q, text %q, hint %q", e, e.Hint, want.Path, want.Text, want.Hint)
	}
}

func TestLinksInsideAreKept(t *testing.T) {
	s, dir := newStore(t), sample(t)
	link(t, dir, "lib/a/up", "../..")
	link(t, dir, "loop", "loop")
	link(t, dir, "round", "lib/a/up/lib/a/up/train.py")
	take(t, s, dir)
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can read everything")
	}
	for _, name := range []string{"train.py", "lib"} {
		t.Run(name, func(t *testing.T) {
			s, dir := newStore(t), sample(t)
			chmod(t, filepath.Join(dir, name), 0)
			t.Cleanup(func() { chmod(t, filepath.Join(dir, name), 0o755) })
			refused(t, s, dir, Options{}, &Error{Path: filepath.Join(dir, name), Text: "cannot be read: permission denied", Hint: "make it readable"})
		})
	}
}

func TestNotAFolder(t *testing.T) {
	s, dir := newStore(t), sample(t)
	refused(t, s, filepath.Join(dir, "train.py"), Options{}, &Error{Path: filepath.Join(dir, "train.py"), Text: "is not a folder"})
	refused(t, s, filepath.Join(dir, "missing"), Options{}, &Error{Path: filepath.Join(dir, "missing"), Text: "no such file"})
}

func TestTooLarge(t *testing.T) {
	s, dir := newStore(t), t.TempDir()
	for i := range 7 {
		write(t, dir, fmt.Sprintf("f%d", i), strings.Repeat("x", 1000*(i+1)))
	}
	refused(t, s, dir, Options{MaxSize: 5000}, &Error{Path: dir,
		Text: "27.3 KiB in 7 files, and a snapshot may have 4.9 KiB; the largest are f6 6.8 KiB, f5 5.9 KiB, f4 4.9 KiB, f3 3.9 KiB, f2 2.9 KiB",
		Hint: ".musterignore"})
	if _, err := s.Take(context.Background(), dir, Options{MaxSize: 28000}); err != nil {
		t.Errorf("exactly at the limit: %v", err)
	}
}

func TestTooMany(t *testing.T) {
	s, dir := newStore(t), t.TempDir()
	write(t, dir, "a", "")
	write(t, dir, "b/1", "")
	write(t, dir, "b/2", "")
	write(t, dir, "c", "")
	refused(t, s, dir, Options{MaxFiles: 3}, &Error{Path: dir, Text: "more than 3 files", Hint: ".musterignore"})
	refused(t, s, dir, Options{MaxFiles: 3}, &Error{Path: dir, Text: ". 2, b 2"})
	if _, err := s.Take(context.Background(), dir, Options{MaxFiles: 4}); err != nil {
		t.Errorf("exactly at the limit: %v", err)
	}
}

// A file that grows with every look at it is an error, not half a file.
func TestChangingFile(t *testing.T) {
	for _, size := range []int{10, small + 10} {
		dir := t.TempDir()
		write(t, dir, "f", strings.Repeat("x", size))
		w, err := newStore(t).writer()
		if err != nil {
			t.Fatal(err)
		}
		defer w.close()
		f, err := os.Open(filepath.Join(dir, "f"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, was := range []int64{int64(size) - 5, int64(size) + 5} {
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if _, err := w.read(context.Background(), f, was, new(buffer)); err != errChanged {
				t.Errorf("a file of %d bytes that had %d: %v", size, was, err)
			}
		}
	}
}

// A writer that never stops must end in an error or a consistent snapshot.
func TestTakeUnderAWriter(t *testing.T) {
	s, dir := newStore(t), t.TempDir()
	name := filepath.Join(dir, "log")
	write(t, dir, "log", "")
	done := make(chan struct{})
	stopped := make(chan error, 1)
	go func() { stopped <- writeUntil(name, done) }()
	for range 20 {
		snap, err := s.Take(context.Background(), dir, Options{})
		var e *Error
		switch {
		case err == nil:
			if err := s.Extract(context.Background(), snap.ID, filepath.Join(t.TempDir(), "copy")); err != nil {
				t.Error(err)
			}
		case !errors.As(err, &e) || e.Path != name || !strings.Contains(e.Text, "changed while it was read"):
			t.Errorf("Take says %v", err)
		}
	}
	close(done)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}

// writeUntil keeps writing and cutting the file off.
func writeUntil(name string, done chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		default:
			if err := os.WriteFile(name, []byte("one line\nand another one\n"), 0o644); err != nil {
				return err
			}
		}
	}
}
