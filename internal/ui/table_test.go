package ui

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestTable(t *testing.T) {
	tty := func(width int) Style { return Style{Unicode: true, Terminal: true, Width: width} }
	coloured := tty(90)
	coloured.Colour = true
	tests := []struct {
		name  string
		style Style
	}{
		{"piped", Style{}},
		{"wide", tty(120)},
		{"cut", tty(90)},
		{"words", Style{Terminal: true, Width: 90}},
		{"narrow", tty(40)},
		{"coloured", coloured},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := [][]string{
				{"RUN", "STATUS", "TASKS", "ATTEMPT", "AGE", "TOOK", "WHERE", "REASON"},
				{"lm-c40v", "Running", "8/8", "1/4", "2h", "2h04m", "local", "silent 6m40s"},
				{"日本-2mzc", tt.style.Yellow("Pending"), "0/2", "-", "3m", "-", "local", "1 of 2 GPUs free"},
				{
					"train-p7xq", tt.style.Red("Failed (1)"), "0/4", "1/1", "10m", "5.0s", "local",
					"worker-1: ValueError:\tbad\x1b]0;title\x07 label -1\nin shard 3",
				},
				{"digits-k3f9", "Succeeded", "0/4", "1/1", "14m", "5.6s", "local"},
				{"x-1111", "Stopped", "", "", "", "", "", ""},
			}
			golden(t, "table-"+tt.name+".txt", tt.style.Table(rows))
		})
	}
}
