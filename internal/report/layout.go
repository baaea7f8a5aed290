package report

import (
	"bufio"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A layout says where the columns of a grid stand for the width of a terminal. It writes the grid.
type layout struct {
	*grid
	gap     int     // the number of spaces between columns after the labels
	widths  []int   // the widths of all columns
	blocks  [][]int // the columns of each block after the labels
	leftOut []int   // the optional columns that have no room
	spark   int     // the length of sparklines, which end the last block; 0 if there are none
}

// layOut returns the first layout that fits the width: with four digits and wide gaps, with three
// digits and narrow gaps, the same without optional columns, and last with several blocks. Grid
// returns the grid with a number of significant digits.
func (t *Table) layOut(grid func(digits int) *grid) *layout {
	wide := newLayout(grid(4), 2)
	if t.Width <= 0 {
		wide.setSparkline(maxSparkline)
		return wide
	}
	wide.shortenTags(t.Width)
	if wide.fits(t.Width) {
		return wide
	}
	narrow := newLayout(grid(3), 1)
	narrow.shortenTags(t.Width)
	for ; ; narrow.leaveOut() {
		if narrow.fits(t.Width) {
			return narrow
		}
		if len(narrow.leftOut) == len(narrow.optional) {
			break
		}
	}
	wide.divide(t.Width)
	return wide
}

// newLayout returns a layout of one block with all columns.
func newLayout(g *grid, gap int) *layout {
	l := &layout{grid: g, gap: gap, blocks: [][]int{{}}}
	for column := g.labels; column < len(g.heads); column++ {
		l.blocks[0] = append(l.blocks[0], column)
	}
	l.measure()
	return l
}

// measure sets the widths of columns.
func (l *layout) measure() {
	l.widths = nil
	for column, head := range l.heads {
		widest := textWidth(head)
		for _, row := range l.rows {
			widest = max(widest, textWidth(row[column].text))
		}
		l.widths = append(l.widths, widest)
	}
}

// leaveOut takes the next optional column out of the layout.
func (l *layout) leaveOut() {
	column := l.optional[len(l.leftOut)]
	l.leftOut = append(l.leftOut, column)
	l.blocks[0] = slices.DeleteFunc(l.blocks[0], func(c int) bool { return c == column })
}

// shortenTags cuts the middle out of tags that are longer than a third of the width. If two tags
// would become equal, it adds the number of the row to each.
func (l *layout) shortenTags(width int) {
	limit := max(12, width/3)
	whole, same := make(map[string]string), false
	for _, row := range l.rows {
		tag := row[0].text
		short := cutMiddle(tag, limit)
		other, ok := whole[short]
		same = same || ok && other != tag
		whole[short] = tag
	}
	for n, row := range l.rows {
		if tag := row[0].text; same && textWidth(tag) > limit {
			row[0].text = cutMiddle(tag, limit-7) + "#" + strconv.Itoa(n+1)
		} else {
			row[0].text = cutMiddle(tag, limit)
		}
	}
	l.measure()
}

// length returns how many characters a row of a block has without the sparkline.
func (l *layout) length(block []int) int {
	length := (l.labels - 1) * 2
	for _, w := range l.widths[:l.labels] {
		length += w
	}
	for _, column := range block {
		length += l.gap + l.widths[column]
	}
	return length
}

// fits reports whether a layout of one block fits the width. It sets the length of sparklines.
func (l *layout) fits(width int) bool {
	room := width - l.length(l.blocks[0])
	if l.sparkline == nil {
		return room >= 0
	}
	return l.setSparkline(room - 2)
}

// setSparkline sets the length of sparklines to at most room characters. It reports whether the
// grid has sparklines and they have room.
func (l *layout) setSparkline(room int) bool {
	if l.sparkline != nil && room >= minSparkline {
		l.spark = min(room, maxSparkline)
		return true
	}
	return false
}

// divide divides the columns into blocks that fit the width.
func (l *layout) divide(width int) {
	columns := l.blocks[0]
	l.blocks = [][]int{nil}
	for _, column := range columns {
		last := &l.blocks[len(l.blocks)-1]
		if with := append(slices.Clone(*last), column); len(*last) == 0 || l.length(with) <= width {
			*last = with
		} else {
			l.blocks = append(l.blocks, []int{column})
		}
	}
	if l.sparkline != nil && !l.setSparkline(width-l.length(l.blocks[len(l.blocks)-1])-2) {
		l.blocks = append(l.blocks, nil)
		l.spark = min(max(width-l.length(nil)-2, minSparkline), maxSparkline)
	}
}

// write writes all blocks, with an empty line between them.
func (l *layout) write(b *bufio.Writer, colour bool) {
	for n := range l.blocks {
		if n > 0 {
			b.WriteByte('\n')
		}
		l.header(b, n)
		for row := range l.rows {
			l.row(b, n, row, colour)
		}
		if len(l.rows) >= longTable {
			l.header(b, n)
		}
	}
}

// header writes the line with the heads of a block.
func (l *layout) header(b *bufio.Writer, block int) {
	cells := make([]cell, len(l.heads))
	for column, head := range l.heads {
		cells[column].text = head
	}
	spark := cmp.Or(l.sparklineTitle, sparklineHead)
	if l.sparklineTitle == "" && l.spark < len(spark) {
		spark = shortSparklineHead
	}
	l.line(b, block, cells, spark, false)
}

// row writes the cells of a row that belong to a block.
func (l *layout) row(b *bufio.Writer, block, row int, colour bool) {
	spark := ""
	if l.spark > 0 {
		spark = l.sparkline(row, l.spark)
	}
	l.line(b, block, l.rows[row], spark, colour)
}

func (l *layout) line(b *bufio.Writer, block int, cells []cell, spark string, colour bool) {
	var line strings.Builder
	for n, label := range cells[:l.labels] {
		if n > 0 {
			line.WriteString("  ")
		}
		line.WriteString(label.text + spaces(l.widths[n]-textWidth(label.text)))
	}
	for _, column := range l.blocks[block] {
		c := cells[column]
		line.WriteString(spaces(l.gap + l.widths[column] - textWidth(c.text)))
		if !colour {
			c.colour = ""
		}
		line.WriteString(coloured(c.text, c.colour))
	}
	if block == len(l.blocks)-1 && l.spark > 0 {
		line.WriteString("  " + spark)
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }
