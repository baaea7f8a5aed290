package report

import (
	"bufio"
	"io"
)

// Columns writes rows that all have the same number of cells. All columns are aligned to the left,
// with two spaces between them.
func Columns(w io.Writer, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for n, text := range row {
			if n == len(widths) {
				widths = append(widths, 0)
			}
			widths[n] = max(widths[n], textWidth(text))
		}
	}
	b := bufio.NewWriter(w)
	for _, row := range rows {
		for n, text := range row {
			b.WriteString(text)
			if n < len(row)-1 {
				b.WriteString(spaces(widths[n] + 2 - textWidth(text)))
			}
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}
