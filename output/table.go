package output

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

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
		if s.missing() {
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
			if s != nil && s.missing() {
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
			text = thousands(strconv.FormatInt(s.Counts().TotalCount(), 10))
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
