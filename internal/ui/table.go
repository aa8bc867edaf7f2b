package ui

import "strings"

// Table lines rows up in columns, two spaces apart, by what they show: cells
// are cleaned, and may be coloured. On a terminal the last column is cut to
// what fits. Rows may be shorter than others.
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
	used := 0
	for j, text := range cells {
		if j == len(widths)-1 && s.Terminal {
			text = Cut(text, max(0, s.Width-used), s.Ellipsis())
		}
		b.WriteString(pad(text, widths[j]) + "  ")
		used += widths[j] + 2
	}
	return strings.TrimRight(b.String(), " ")
}

// oneLine cleans text for a place where a tab would spoil the columns.
func (s Style) oneLine(text string) string {
	return strings.ReplaceAll(string(Clean([]byte(text), s.Colour)), "\t", " ")
}
