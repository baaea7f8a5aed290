package output

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"hdrkit/tags"
)

// A Table prints summaries for people: a row for each tag, in columns that fit the width of a
// terminal. Values have three or four significant digits.
//
// If a row is too long, the table first uses less space between columns, then leaves out the period
// and after it the minimum and the mean. If that is not enough, it prints all columns in several
// blocks below each other. Each row ends with a sparkline of the maximum over time, if summaries
// have [Maxima].
type Table struct {
	Scale       Scale
	Percentiles []float64
	// Width is the width of the terminal in characters. Zero means no limit.
	Width int
	// Colour marks changes of 10% or more in red if they are for the worse, otherwise in green.
	Colour bool
}

// A cell is a text and its colour, an SGR code or empty.
type cell struct{ text, colour string }

// Colours, for [Coloured].
const (
	Red   = "31"
	Green = "32"
)

// A grid is the cells of a table. The columns of labels are aligned to the left and stand in each
// block.
type grid struct {
	labels [][]string // by row
	heads  []string
	rows   [][]cell // by row and column
	// drawn returns the sparkline of a row with a number of characters. It is nil if there are no
	// sparklines.
	drawn func(row, width int) string
	// optional are the columns that may be left out, in this order.
	optional []int
}

// Columns of a grid.
const (
	countColumn = iota
	rateColumn
	periodColumn
	minColumn
	meanColumn
)

// Lengths of sparklines, in characters.
const (
	leastSparkline = 8
	mostSparkline  = 32
)

const (
	sparklineHead      = "max over time"
	shortSparklineHead = "max/time"
)

// longTable is the number of rows from which the header comes again at the end.
const longTable = 30

// Write writes a table with a row for each summary.
func (t *Table) Write(w io.Writer, summaries []*Summary) error {
	start, end := int64(math.MaxInt64), int64(math.MinInt64)
	for _, s := range summaries {
		if s.Histogram == nil {
			return ErrNoHistogram
		}
		start, end = min(start, s.Start), max(end, s.End)
	}
	return t.write(w, func(digits int) *grid {
		g := t.newGrid()
		for _, s := range summaries {
			g.labels = append(g.labels, []string{s.Name()})
			g.rows = append(g.rows, t.cells(s, digits))
		}
		if slices.ContainsFunc(summaries, func(s *Summary) bool { return len(s.Maxima.Values) > 0 }) {
			g.drawn = func(row, width int) string {
				m := &summaries[row].Maxima
				return m.sparkline(start, end, width, m.highest())
			}
		}
		return g
	}, periods(summaries))
}

// WriteChanges writes a table with three rows for each pair: before, after, and the change in
// percent. The sparklines of both have the same scale.
func (t *Table) WriteChanges(w io.Writer, pairs []Pair) error {
	var all []*Summary
	for _, p := range pairs {
		for _, s := range []*Summary{p.Before, p.After} {
			if s != nil && s.Histogram == nil {
				return ErrNoHistogram
			} else if s != nil {
				all = append(all, s)
			}
		}
	}
	return t.write(w, func(digits int) *grid {
		g := t.newGrid()
		for _, p := range pairs {
			g.labels = append(g.labels, []string{p.name(), "before"}, []string{"", "after"}, []string{"", "change"})
			g.rows = append(g.rows, t.cells(p.Before, digits), t.cells(p.After, digits), t.changes(p))
		}
		if slices.ContainsFunc(all, func(s *Summary) bool { return len(s.Maxima.Values) > 0 }) {
			g.drawn = func(row, width int) string {
				p := pairs[row/3]
				s := []*Summary{p.Before, p.After, nil}[row%3]
				if s == nil {
					return ""
				}
				highest := 0.0
				for _, s := range []*Summary{p.Before, p.After} {
					if s != nil && s.Maxima.highest() > highest {
						highest = s.Maxima.highest()
					}
				}
				return s.Maxima.sparkline(s.Start, s.End, width, highest)
			}
		}
		return g
	}, periods(all))
}

// periods returns the periods of summaries as text.
func periods(summaries []*Summary) string {
	var all []string
	for _, s := range summaries {
		if text := shortDuration(s.Period); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, " and ")
}

func (t *Table) newGrid() *grid {
	g := &grid{heads: []string{"count", "/s", "period", "min", "mean"}, optional: []int{periodColumn, minColumn, meanColumn}}
	for _, p := range t.Percentiles {
		g.heads = append(g.heads, "p"+shortest(p))
	}
	g.heads = append(g.heads, "max")
	return g
}

// cells returns the figures of a summary, which may be nil.
func (t *Table) cells(s *Summary, digits int) []cell {
	all := make([]cell, 0, 6+len(t.Percentiles))
	for n, f := range figures(t.Scale, t.Percentiles) {
		if n == periodColumn {
			text := "-"
			if s != nil {
				text = shortDuration(s.Period)
			}
			all = append(all, cell{text: text})
		}
		text := "-"
		switch v := f.ifAny(s); {
		case math.IsNaN(v) || math.IsInf(v, 0):
		case n == countColumn:
			text = thousands(strconv.FormatInt(s.Histogram.TotalCount(), 10))
		default:
			text = significant(v, digits)
		}
		all = append(all, cell{text: text})
	}
	return all
}

// largeChange is the change in percent from which a change has a colour.
const largeChange = 10

// changes returns the changes of a pair in percent.
func (t *Table) changes(p Pair) []cell {
	all := make([]cell, 0, 6+len(t.Percentiles))
	for n, f := range figures(t.Scale, t.Percentiles) {
		if n == periodColumn {
			text := "-"
			if p.Before != nil && p.After != nil {
				text = change(float64(p.Before.Period), float64(p.After.Period))
			}
			all = append(all, cell{text: text})
		}
		a, b := f.ifAny(p.Before), f.ifAny(p.After)
		c := cell{text: change(a, b)}
		if percent := (b - a) / a * 100; n != countColumn && math.Abs(percent) >= largeChange {
			worse := percent > 0
			if n == rateColumn {
				worse = !worse
			}
			c.colour = Green
			if worse {
				c.colour = Red
			}
		}
		all = append(all, c)
	}
	return all
}

// write lays out the table and prints it. The grid is made with a number of significant digits.
func (t *Table) write(w io.Writer, grid func(digits int) *grid, period string) error {
	l := t.layOut(grid)
	b := bufio.NewWriter(w)
	var about []string
	if t.Scale.Unit != "" {
		about = append(about, "values in "+t.Scale.Unit)
	}
	if slices.Contains(l.left, periodColumn) {
		about = append(about, "period "+period)
	}
	if len(about) > 0 {
		fmt.Fprintf(b, "%s\n\n", strings.Join(about, ", "))
	}
	for n := range l.blocks {
		if n > 0 {
			b.WriteByte('\n')
		}
		l.header(b, n)
		for row := range l.rows {
			l.row(b, n, row, t.Colour)
		}
		if len(l.rows) >= longTable {
			l.header(b, n)
		}
	}
	var missing []string
	for _, column := range l.left {
		if column != periodColumn {
			missing = append(missing, l.heads[column])
		}
	}
	if len(missing) > 0 {
		fmt.Fprintf(b, "\n%d columns have no room for %s\n", t.Width, strings.Join(missing, " and "))
	}
	return b.Flush()
}

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
	for _, column := range append([]int{-1}, narrow.optional...) {
		if column >= 0 {
			narrow.left = append(narrow.left, column)
			narrow.blocks[0] = slices.DeleteFunc(narrow.blocks[0], func(c int) bool { return c == column })
		}
		if narrow.fits(t.Width) {
			return narrow
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
	l.before = nil
	for _, labels := range l.labels {
		if l.before == nil {
			l.before = make([]int, len(labels))
			l.before[0] = len("tag")
		}
		for n, label := range labels {
			l.before[n] = max(l.before[n], textWidth(label))
		}
	}
}

// shorten cuts tags that are longer than a third of the width, but never so that two tags become
// the same. It cuts the middle out, or what the long tags have in common at both ends, or numbers
// them.
func (l *layout) shorten(width int) {
	limit := max(12, width/3)
	var long []string
	for _, labels := range l.labels {
		if textWidth(labels[0]) > limit {
			long = append(long, labels[0])
		}
	}
	prefix, suffix := commonEnds(long)
	for _, cut := range []func(tag string, n int) string{
		func(tag string, _ int) string { return cutMiddle(tag, limit) },
		func(tag string, _ int) string {
			return cutMiddle("…"+tag[len(prefix):len(tag)-len(suffix)]+"…", limit)
		},
		func(tag string, n int) string { return cutMiddle(tag, limit-7) + "#" + strconv.Itoa(n+1) },
	} {
		if l.cutLabels(limit, cut) {
			break
		}
	}
	l.measureLabels()
}

// cutLabels replaces the labels that are longer than limit. It reports false, and changes nothing,
// if two would be the same.
func (l *layout) cutLabels(limit int, cut func(tag string, n int) string) bool {
	whole := make(map[string]string)
	var all [][]string
	for n, labels := range l.labels {
		short := labels[0]
		if textWidth(short) > limit {
			short = cut(short, n)
		}
		if other, ok := whole[short]; ok && other != labels[0] {
			return false
		}
		whole[short] = labels[0]
		all = append(all, append([]string{short}, labels[1:]...))
	}
	l.labels = all
	return true
}

// commonEnds returns the longest prefix that all texts have, and the longest suffix of the rest.
func commonEnds(texts []string) (prefix, suffix string) {
	if len(texts) == 0 {
		return "", ""
	}
	prefix = texts[0]
	for _, text := range texts {
		for !strings.HasPrefix(text, prefix) {
			_, size := utf8.DecodeLastRuneInString(prefix)
			prefix = prefix[:len(prefix)-size]
		}
	}
	suffix = texts[0][len(prefix):]
	for _, text := range texts {
		for !strings.HasSuffix(text[len(prefix):], suffix) {
			_, size := utf8.DecodeRuneInString(suffix)
			suffix = suffix[size:]
		}
	}
	return prefix, suffix
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

func (l *layout) header(b *bufio.Writer, block int) {
	var line strings.Builder
	for n, w := range l.before {
		label := ""
		if n == 0 {
			label = "tag"
		} else {
			line.WriteString("  ")
		}
		pad(&line, label, w)
	}
	for _, column := range l.blocks[block] {
		padLeft(&line, l.heads[column], l.gap+l.widths[column])
	}
	if block == len(l.blocks)-1 && l.spark > 0 {
		head := sparklineHead
		if l.spark < len(head) {
			head = shortSparklineHead
		}
		line.WriteString("  " + head)
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

func (l *layout) row(b *bufio.Writer, block, row int, colour bool) {
	var line strings.Builder
	for n, w := range l.before {
		if n > 0 {
			line.WriteString("  ")
		}
		pad(&line, l.labels[row][n], w)
	}
	for _, column := range l.blocks[block] {
		c := l.rows[row][column]
		padLeft(&line, "", l.gap+l.widths[column]-textWidth(c.text))
		if colour {
			line.WriteString(Coloured(c.text, c.colour))
		} else {
			line.WriteString(c.text)
		}
	}
	if block == len(l.blocks)-1 && l.spark > 0 {
		line.WriteString("  " + l.drawn(row, l.spark))
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// Coloured returns a text for a terminal in a colour, which is an SGR code. An empty code changes
// nothing.
func Coloured(text, code string) string {
	if code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func pad(b *strings.Builder, text string, width int) {
	b.WriteString(text)
	b.WriteString(strings.Repeat(" ", max(width-textWidth(text), 0)))
}

func padLeft(b *strings.Builder, text string, width int) {
	b.WriteString(strings.Repeat(" ", max(width-textWidth(text), 0)))
	b.WriteString(text)
}

// textWidth returns the number of columns that a terminal needs for a text.
func textWidth(text string) int {
	columns := 0
	for _, r := range text {
		columns += runeWidth(r)
	}
	return columns
}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cutMiddle shortens a text to at most limit columns. An ellipsis stands for its middle.
func cutMiddle(text string, limit int) string {
	if textWidth(text) <= limit {
		return text
	}
	runes := []rune(text)
	from, to, columns := 0, len(runes), 1
	for front := true; from < to; front = !front {
		r := runes[from]
		if !front {
			r = runes[to-1]
		}
		if columns += runeWidth(r); columns > limit {
			break
		}
		if front {
			from++
		} else {
			to--
		}
	}
	return string(runes[:from]) + "…" + string(runes[to:])
}

// significant formats v with so many significant digits and thousands separators. Whole numbers
// have no decimals.
func significant(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'e', digits-1, 64)
	rounded, _ := strconv.ParseFloat(text, 64)
	_, exponentText, _ := strings.Cut(text, "e")
	exponent, _ := strconv.Atoi(exponentText)
	switch {
	case v == 0:
		return "0"
	case exponent >= 15 || exponent < -6:
		return strconv.FormatFloat(v, 'g', digits, 64)
	case exponent >= digits-1 || v == math.Trunc(v):
		return thousands(strconv.FormatFloat(rounded, 'f', 0, 64))
	}
	if exponent < -4 { // no zeros after digits that are so small
		return shortest(rounded)
	}
	return strconv.FormatFloat(rounded, 'f', digits-1-exponent, 64)
}

// thousands puts commas between groups of three digits of a whole number.
func thousands(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for n, c := range digits {
		if n > 0 && (len(digits)-n)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return sign + b.String()
}

// shortDuration formats milliseconds for people: 350ms, 9.998s, 2m5s, 3h7m, 2d4h.
func shortDuration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + "ms"
	case ms < 10_000:
		return shortest(float64(ms)/1000) + "s"
	case ms < 100_000:
		return shortest(math.Round(float64(ms)/100)/10) + "s"
	case ms < 3600_000:
		d = d.Round(time.Second)
		return withoutZero(int64(d/time.Minute), "m", int64(d%time.Minute/time.Second), "s")
	case ms < 48*3600_000:
		d = d.Round(time.Minute)
		return withoutZero(int64(d/time.Hour), "h", int64(d%time.Hour/time.Minute), "m")
	}
	hours := (ms + 1800_000) / 3600_000
	return withoutZero(hours/24, "d", hours%24, "h")
}

func withoutZero(large int64, largeUnit string, small int64, smallUnit string) string {
	if small == 0 {
		return fmt.Sprintf("%d%s", large, largeUnit)
	}
	return fmt.Sprintf("%d%s%d%s", large, largeUnit, small, smallUnit)
}

// Name returns the text for the tag of the summary.
func (s *Summary) Name() string { return tagName(s.Tag, s.AllTags) }

func (p *Pair) name() string {
	all := p.Before != nil && p.Before.AllTags || p.After != nil && p.After.AllTags
	return tagName(p.Tag, all)
}

func tagName(tag []byte, all bool) string {
	if all {
		return "all tags"
	}
	return tags.Text(tag)
}
