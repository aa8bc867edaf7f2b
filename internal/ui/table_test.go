package ui

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
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

func TestNarrow(t *testing.T) {
	rows := [][]string{{"RUN", "STATUS", "WHERE", "TOOK", "REASON"}, {"日本-2mzc", "Pending", "local", "-", "1 of 2 GPUs free; in use by another"}}
	tests := []struct {
		name  string
		style Style
		want  []string
	}{
		{"room for all", Style{Terminal: true, Width: 60}, rows[0]},
		{"no terminal", Style{}, rows[0]},
		{"one too many", Style{Terminal: true, Width: 50}, []string{"RUN", "STATUS", "TOOK", "REASON"}},
		{"all that may go", Style{Terminal: true, Width: 20}, []string{"RUN", "STATUS", "REASON"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.style.Narrow(rows, "NONE", "WHERE", "TOOK")
			if !slices.Equal(got[0], tt.want) || len(got[1]) != len(tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	if len(rows[0]) != 5 || len(rows[1]) != 5 {
		t.Errorf("the rows were changed: %q", rows)
	}
}
