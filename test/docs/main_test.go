//go:build linux

// Package docs keeps README.md and docs/ true: their screens are made by the
// commands in them, their job files are read, their tables come from the code,
// and their links lead somewhere.
//
//	go test ./test/docs -update
//
// rewrites what is no longer true.
package docs

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// root is the checkout, from this folder.
const root = "../.."

var update = flag.Bool("update", false, "write what is true now into the documents")

// binaries is the folder of the muster that the screens run.
var binaries string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "muster-docs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binaries = dir
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "muster"), "muster.dev/muster/cmd/muster")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build muster: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// documents are what users read, from the root.
func documents(t *testing.T) []string {
	t.Helper()
	more, err := filepath.Glob(root + "/docs/*.md")
	if err != nil || len(more) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	files := []string{"README.md"}
	for _, f := range more {
		files = append(files, "docs/"+filepath.Base(f))
	}
	return files
}

func read(t *testing.T, document string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, document, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, document), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
