package ui

import (
	"slices"
	"strings"
)

// Table lines rows up in columns, two spaces apart, by what they show: cells
// are cleaned, and may be coloured. On a terminal rows are cut to what fits.
// Rows may be shorter than others.
func (s Style) Table(rows [][]string) string {
	cells := make([][]string, len(rows))
	var widths []int
	for i, row := range rows {
		cells[i] = make([]string, len(row))
		for j, text := range row {
			cells[i][j] = s.oneLine(text)
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], Width(cells[i][j]))
		}
	}
	var b strings.Builder
	for _, row := range cells {
		b.WriteString(s.row(row, widths) + "\n")
	}
	return b.String()
}

func (s Style) row(cells []string, widths []int) string {
	var b strings.Builder
	for j, text := range cells {
		b.WriteString(Pad(text, widths[j]) + "  ")
	}
	row := strings.TrimRight(b.String(), " ")
	if s.Terminal {
		row = Cut(row, s.Width, s.Ellipsis())
	}
	return row
}

// lastRoom is how much of a table's last column is worth another column.
const lastRoom = 20

// Narrow leaves out columns that a small terminal has no room for: those with
// these headings, the first of them first, as long as it takes.
func (s Style) Narrow(rows [][]string, headings ...string) [][]string {
	for _, h := range headings {
		j := slices.Index(rows[0], h)
		if !s.Terminal || s.tableWidth(rows) <= s.Width {
			return rows
		}
		if j < 0 {
			continue
		}
		without := make([][]string, len(rows))
		for i, row := range rows {
			without[i] = slices.Delete(slices.Clone(row), j, j+1)
		}
		rows = without
	}
	return rows
}

// tableWidth is how wide a table is, with the least of its last column.
func (s Style) tableWidth(rows [][]string) int {
	total := 0
	for j := range rows[0] {
		width := 0
		for _, row := range rows {
			if j < len(row) {
				width = max(width, Width(s.oneLine(row[j])))
			}
		}
		if j == len(rows[0])-1 {
			return total + min(width, lastRoom)
		}
		total += width + 2
	}
	return total
}

// oneLine cleans text for a place where a tab would spoil the columns.
func (s Style) oneLine(text string) string {
	return strings.ReplaceAll(string(Clean([]byte(text), s.Colour)), "\t", " ")
}
