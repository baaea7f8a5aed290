package output

import (
	"bufio"
	"slices"
	"strconv"
	"strings"
)

// A layout is a grid and where its columns stand.
type layout struct {
	*grid
	gap    int
	widths []int   // of columns
	before []int   // widths of the columns of labels
	blocks [][]int // the columns of each block
	left   []int   // the columns left out
	spark  int     // the length of sparklines, which end the last block; 0 for none
}

// layOut finds the first layout that fits. The last one that it tries has several blocks.
func (t *Table) layOut(grid func(digits int) *grid) *layout {
	wide := newLayout(grid(4), 2)
	if t.Width <= 0 {
		wide.fill(mostSparkline)
		return wide
	}
	wide.shorten(t.Width)
	if wide.fits(t.Width) {
		return wide
	}
	narrow := newLayout(grid(3), 1)
	narrow.shorten(t.Width)
	for ; ; narrow.leaveOut() {
		if narrow.fits(t.Width) {
			return narrow
		}
		if len(narrow.left) == len(narrow.optional) {
			break
		}
	}
	wide.wrap(t.Width)
	return wide
}

func newLayout(g *grid, gap int) *layout {
	l := &layout{grid: g, gap: gap, blocks: [][]int{{}}}
	for column, head := range g.heads {
		widest := textWidth(head)
		for _, row := range g.rows {
			widest = max(widest, textWidth(row[column].text))
		}
		l.widths = append(l.widths, widest)
		l.blocks[0] = append(l.blocks[0], column)
	}
	l.measureLabels()
	return l
}

func (l *layout) measureLabels() {
	l.before = []int{len("tag")}
	for _, labels := range l.labels {
		for len(l.before) < len(labels) {
			l.before = append(l.before, 0)
		}
		for n, label := range labels {
			l.before[n] = max(l.before[n], textWidth(label))
		}
	}
}

// leaveOut leaves out the next optional column.
func (l *layout) leaveOut() {
	column := l.optional[len(l.left)]
	l.left = append(l.left, column)
	l.blocks[0] = slices.DeleteFunc(l.blocks[0], func(c int) bool { return c == column })
}

// shorten cuts the middle out of tags that are longer than a third of the width, and numbers them
// if two would become the same.
func (l *layout) shorten(width int) {
	limit := max(12, width/3)
	whole, same := make(map[string]string), false
	for _, labels := range l.labels {
		short := cutMiddle(labels[0], limit)
		other, ok := whole[short]
		same = same || ok && other != labels[0]
		whole[short] = labels[0]
	}
	for n, labels := range l.labels {
		if textWidth(labels[0]) <= limit {
			continue
		}
		short := cutMiddle(labels[0], limit)
		if same {
			short = cutMiddle(labels[0], limit-7) + "#" + strconv.Itoa(n+1)
		}
		l.labels[n] = append([]string{short}, labels[1:]...)
	}
	l.measureLabels()
}

// length returns the length of the rows of a block without the sparkline.
func (l *layout) length(block []int) int {
	length := (len(l.before) - 1) * 2
	for _, w := range l.before {
		length += w
	}
	for _, column := range block {
		length += l.gap + l.widths[column]
	}
	return length
}

// fits reports whether the only block fits, with a sparkline if there is one, whose length it sets.
func (l *layout) fits(width int) bool {
	room := width - l.length(l.blocks[0])
	if l.drawn == nil {
		return room >= 0
	}
	return l.fill(room - 2)
}

// fill sets the length of sparklines to at most room. It reports whether there is enough room for
// one.
func (l *layout) fill(room int) bool {
	if l.drawn != nil && room >= leastSparkline {
		l.spark = min(room, mostSparkline)
		return true
	}
	return false
}

// wrap puts the columns into as many blocks as they need.
func (l *layout) wrap(width int) {
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
	if l.drawn != nil && !l.fill(width-l.length(l.blocks[len(l.blocks)-1])-2) {
		l.blocks = append(l.blocks, nil)
		l.spark = min(max(width-l.length(nil)-2, leastSparkline), mostSparkline)
	}
}

// header writes the heads of a block.
func (l *layout) header(b *bufio.Writer, block int) {
	labels := make([]string, len(l.before))
	labels[0] = "tag"
	cells := make([]cell, len(l.heads))
	for column, head := range l.heads {
		cells[column].text = head
	}
	spark := sparklineHead
	if l.spark < len(spark) {
		spark = shortSparklineHead
	}
	l.line(b, block, labels, cells, spark, false)
}

// row writes what a block has of a row.
func (l *layout) row(b *bufio.Writer, block, row int, colour bool) {
	spark := ""
	if l.spark > 0 {
		spark = l.drawn(row, l.spark)
	}
	l.line(b, block, l.labels[row], l.rows[row], spark, colour)
}

func (l *layout) line(b *bufio.Writer, block int, labels []string, cells []cell, spark string, colour bool) {
	var line strings.Builder
	for n, w := range l.before {
		if n > 0 {
			line.WriteString("  ")
		}
		line.WriteString(labels[n] + spaces(w-textWidth(labels[n])))
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
