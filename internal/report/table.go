package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"hdrkit/internal/base/counts"
	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/sides"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Table prints summaries, comparisons and trends for people, in columns that fit the width of a
// terminal. Values have three or four significant digits.
//
// If a row is too long, the table first reduces digits and gaps, and then leaves out the period,
// the minimum and the mean. From a width of 60, a table without intervals of confidence also leaves
// out some percentiles and the rate. If rows are still too long, the table prints all columns in
// several blocks below each other. If summaries have [output.Maxima], each row ends with a
// sparkline of the maximum over time.
type Table struct {
	// Percentiles has the percentiles with a column. The maximum always has a column. If 100 is in
	// Percentiles, the changes of the maximum are judged, too.
	Percentiles []float64
	// Shares has figures of all counts, see [output.Figure.OfCounts]. Their columns stand behind
	// the percentiles.
	Shares []output.Figure
	// Width is the width of the terminal in characters. 0 is no limit.
	Width int
	// Colour shows significant changes for the worse in red and other significant changes in green,
	// and dims percentiles with few values above them.
	Colour bool
	// Markdown writes a table of Markdown, without sparklines.
	Markdown bool
	// Zone is the time zone of times. Nil is UTC.
	Zone *time.Location
	// Labels has the names that rows of whole logs show, by the names of inputs. Other inputs keep
	// their names.
	Labels map[string]string
	// Head is the head of the first column. If it is empty, the head is "input" for rows of whole
	// logs, and else "tag".
	Head string
	// Notes stand below the table, before the notes about its figures.
	Notes []string
	// Verdicts has texts about limits, by the text of a tag. If Verdicts is not nil, the second
	// column shows them.
	Verdicts map[string]string
	// Tests adds the p-value (p=) and the numbers of runs (n=) to each change that has an interval.
	Tests bool
}

// A cell is a cell of a table. The colour is an SGR code, or empty.
type cell struct{ text, colour string }

// The colours of cells, as SGR codes.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	dim    = "2"
)

// A grid has the cells of a table, before it is known which columns fit. The first columns are
// labels. They are aligned to the left, and each block repeats them.
type grid struct {
	labels int // the number of their columns
	heads  []string
	rows   [][]cell // by row and column
	// sparkline returns the sparkline of a row, with width characters. It is nil if there are no
	// sparklines.
	sparkline func(row, width int) string
	// sparklineTitle is the head of the sparklines. If it is empty, they show the maximum over
	// time.
	sparklineTitle string
	// optional has the columns that may be left out, in the order in which they are.
	optional []int
}

// Columns of a grid after its labels.
const (
	countColumn = iota
	rateColumn
	periodColumn
	minColumn
	meanColumn
	maxColumn // before percentiles come between
)

// Lengths of sparklines, in characters.
const (
	minSparkline = 8
	maxSparkline = 32
)

const (
	sparklineHead      = "max over time"
	shortSparklineHead = "max/time"
)

// highestOf returns the highest maximum of summaries, in the unit of their scale factors. It is the
// full height of the sparklines of a table.
func highestOf(summaries []*output.Summary) (highest float64) {
	for _, s := range summaries {
		if v := maximaOf(s).highest() * s.Scale.Factor(); v > highest { // not if it is no number
			highest = v
		}
	}
	return highest
}

// A table of longTable rows or more repeats its header at the end.
const longTable = 30

// Write writes a table with a row for each summary, and notes below it.
func (t *Table) Write(w io.Writer, summaries []*output.Summary) error {
	start, end := int64(math.MaxInt64), int64(math.MinInt64)
	for _, s := range summaries {
		start, end = min(start, s.Start), max(end, s.End)
	}
	return t.write(w, func(digits int) *grid {
		head := "tag"
		if len(summaries) > 0 && !slices.ContainsFunc(summaries, func(s *output.Summary) bool { return !isLog(s) }) {
			head = "input"
		}
		heads := []string{cmp.Or(t.Head, head)}
		if t.Verdicts != nil {
			heads = append(heads, "limits")
		}
		g := t.newGrid(heads...)
		for _, s := range summaries {
			labels := []cell{{text: t.nameOf(s)}}
			if t.Verdicts != nil {
				labels = append(labels, cell{text: t.Verdicts[tags.Text(s.Tag)]})
			}
			g.rows = append(g.rows, slices.Concat(labels, t.summaryCells(s, digits)))
		}
		if !slices.ContainsFunc(summaries, func(s *output.Summary) bool { return s.Confidence != nil }) {
			t.leaveOutMore(g)
		}
		if n := sparklineLength(summaries, start, end); n > 1 && slices.ContainsFunc(summaries,
			func(s *output.Summary) bool { return len(s.Maxima.Values) > 0 }) {
			highest := highestOf(summaries)
			g.sparkline = func(row, width int) string {
				s := summaries[row]
				return maximaOf(s).sparkline(start, end, min(width, n), highest/s.Scale.Factor())
			}
		}
		return g
	}, summaries, t.notes(summaries, t.Percentiles))
}

// WriteChanges writes a table with three rows for each pair: before, after, and the change in
// percent with its interval. The sparklines of a pair have the same scale.
func (t *Table) WriteChanges(w io.Writer, pairs []sides.Pair) error {
	var all []*output.Summary
	for _, p := range pairs {
		for _, s := range []*output.Summary{p.Before, p.After} {
			if s != nil {
				all = append(all, s)
			}
		}
	}
	return t.write(w, func(digits int) *grid {
		g := t.newGrid(cmp.Or(t.Head, "tag"), "")
		for _, p := range pairs {
			g.rows = append(g.rows,
				slices.Concat([]cell{{text: p.Name()}, {text: "before"}}, t.sideCells(&p, p.Before, digits)),
				slices.Concat([]cell{{}, {text: "after"}}, t.sideCells(&p, p.After, digits)),
				slices.Concat([]cell{{}, {text: "change"}}, t.changeCells(p)))
		}
		if slices.ContainsFunc(all, func(s *output.Summary) bool { return len(s.Maxima.Values) > 0 }) {
			g.sparkline = func(row, width int) string {
				p := pairs[row/3]
				s := []*output.Summary{p.Before, p.After, nil}[row%3]
				if s == nil {
					return ""
				}
				var both []*output.Summary
				for _, side := range []*output.Summary{p.Before, p.After} {
					if side != nil {
						both = append(both, side)
					}
				}
				highest := highestOf(both)
				highest /= s.Scale.Factor()
				return maximaOf(s).sparkline(s.Start, s.End, min(width, max(sparklineLength([]*output.Summary{s}, s.Start, s.End), 1)),
					highest)
			}
		}
		return g
	}, all, append(t.notes(all, nil), changeNotes(pairs, t.Percentiles)...))
}

// Changes returns the headings and the three rows that WriteChanges prints for a pair.
func (t *Table) Changes(p sides.Pair) (headings []string, rows [3][]string) {
	for _, f := range t.figures() {
		headings = append(headings, head(f.Figure))
	}
	for n, cells := range [][]cell{t.sideCells(&p, p.Before, 4), t.sideCells(&p, p.After, 4), t.changeCells(p)} {
		for _, c := range cells {
			rows[n] = append(rows[n], c.text)
		}
	}
	return headings, rows
}

// maxPeriods is the largest number of different periods that periodsText lists.
const maxPeriods = 4

// periodsText returns the different periods of summaries as text. If there are many, it returns the
// shortest and the longest.
func periodsText(summaries []*output.Summary) string {
	var all []string
	shortest, longest := int64(math.MaxInt64), int64(0)
	for _, s := range summaries {
		shortest = min(shortest, s.Period)
		longest = max(longest, s.Period)
		if len(all) > maxPeriods {
			continue
		}
		if text := periodText(s.Period); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) > maxPeriods {
		return people.Duration(shortest) + " to " + people.Duration(longest)
	}
	return strings.Join(all, " and ")
}

// periodText returns a period, or a dash if no value has a time.
func periodText(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return people.Duration(ms)
}

func (t *Table) newGrid(labels ...string) *grid {
	n := len(labels)
	g := &grid{labels: n, heads: labels, optional: []int{n + periodColumn, n + minColumn, n + meanColumn}}
	for _, f := range t.figures() {
		g.heads = append(g.heads, head(f.Figure))
	}
	return g
}

// columnPercentiles returns the percentiles that have a column of their own, without 100, which is
// the maximum.
func (t *Table) columnPercentiles() []float64 {
	return slices.DeleteFunc(slices.Clone(t.Percentiles), func(p float64) bool { return p == 100 })
}

// leaveOutMore adds more optional columns to a grid: percentiles above 99.9, then percentiles
// between 50 and 99, both from the highest on, and then the rate. For a terminal narrower than 60
// it adds none, and the table has several blocks.
func (t *Table) leaveOutMore(g *grid) {
	if t.Width < 60 {
		return
	}
	for _, leave := range []func(p float64) bool{func(p float64) bool { return p > 99.9 && p < 100 }, func(p float64) bool { return p > 50 && p < 99 }} {
		percentiles := t.columnPercentiles()
		for n := len(percentiles) - 1; n >= 0; n-- {
			if leave(percentiles[n]) {
				g.optional = append(g.optional, g.labels+meanColumn+1+n)
			}
		}
	}
	g.optional = append(g.optional, g.labels+rateColumn)
}

// summaryCells returns the cells of the figures of a summary.
func (t *Table) summaryCells(s *output.Summary, digits int) []cell {
	return t.figureCells(s, []*output.Summary{s}, digits, func(f *figureColumn) float64 { return f.valueOf(s) })
}

// sideCells returns the cells of the figures of s, a side of a pair, which may be nil.
func (t *Table) sideCells(p *sides.Pair, s *output.Summary, digits int) []cell {
	runs := []*output.Summary{s}
	if c := p.Change; c.HasRuns() {
		runs = c.RunsBefore
		if s == p.After {
			runs = c.RunsAfter
		}
	}
	return t.figureCells(s, runs, digits, func(f *figureColumn) float64 { return t.sideValue(p, s, f) })
}

// figureCells returns the cells of the figures of a summary. Of returns the number in a cell. Runs
// are the runs that the summary adds up: a figure has a mark if one of them has few values above
// it.
func (t *Table) figureCells(s *output.Summary, runs []*output.Summary, digits int, of func(f *figureColumn) float64) (all []cell) {
	for _, f := range t.figures() {
		c := cell{text: "-"}
		v := of(&f)
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
		case f.text != nil:
			c.text = f.text(s)
		default:
			c.text = people.Digits(v, digits)
		}
		all = append(all, t.annotate(c, s, runs, &f, digits))
	}
	return all
}

// annotate adds to the cell of a figure its interval, and a mark if few values are above the figure
// in one of the runs.
func (t *Table) annotate(c cell, s *output.Summary, runs []*output.Summary, f *figureColumn, digits int) cell {
	if s == nil || s.Counts().TotalCount() == 0 || c.text == "-" {
		return c
	}
	if s.Confidence != nil && f.interval != nil {
		low, high := f.interval(s)
		c.text += IntervalText(low, high, func(v float64) string { return people.Digits(v, digits) })
	}
	if f.Name != "" || f.Percentile >= 100 {
		return c
	}
	above := sides.Above(runs, f.Percentile)
	switch {
	case above == 0:
		c.text, c.colour = "max "+c.text, dim
	case above < counts.Few && t.Colour:
		c.colour = dim
	case above < counts.Few:
		c.text += " <10"
	}
	return c
}

// changeCells returns the cells with the changes of a pair.
func (t *Table) changeCells(p sides.Pair) (all []cell) {
	for _, f := range t.figures() {
		all = append(all, t.changeCell(p, &f))
	}
	return all
}

// changeCell returns the cell with the change of a figure. The text begins with ~ if the change is
// within the noise, ! if it is beyond the noise but not proven, and ? if there is too little data.
// Only a proven change has a colour.
func (t *Table) changeCell(p sides.Pair, f *figureColumn) cell {
	plain := cell{text: percentChange(t.sideValue(&p, p.Before, f), t.sideValue(&p, p.After, f))}
	if p.Change == nil {
		return plain
	}
	if f.always && !f.compared { // the count and the period are no figures
		if len(p.Change.RunsBefore) != len(p.Change.RunsAfter) { // they add up different numbers of runs
			return cell{text: "-"}
		}
		return plain
	}
	if plain.text != "-" {
		plain.text = "?" + plain.text
	}
	if !f.compared {
		return plain
	}
	figure := p.Change.Figure(f.Figure)
	text := figure.Text()
	if text != "" && t.Tests {
		before, after := max(len(p.Change.RunsBefore), 1), max(len(p.Change.RunsAfter), 1)
		text += fmt.Sprintf(" p=%s n=%d+%d", people.Digits(max(figure.P, 1e-6), 2), before, after)
	}
	switch {
	case text == "":
		return plain
	case figure.Significant && figure.Ratio > 1:
		return cell{text, red}
	case figure.Significant:
		return cell{text, green}
	}
	return cell{text: text}
}

// write writes a table, with the unit above it and notes below it. Grid returns the grid with a
// number of significant digits.
func (t *Table) write(w io.Writer, grid func(digits int) *grid, summaries []*output.Summary, notes []string) error {
	b := bufio.NewWriter(w)
	scale := output.CommonScale(summaries)
	if t.Markdown {
		t.markdown(b, grid(4), append([]string{unit.About(scale)}, notes...))
		return b.Flush()
	}
	l := t.layOut(grid)
	about := []string{unit.About(scale)}
	if slices.Contains(l.leftOut, l.labels+periodColumn) {
		about = append(about, "period "+periodsText(summaries))
	}
	fmt.Fprintf(b, "%s\n\n", strings.Join(about, ", "))
	l.write(b, t.Colour)
	var missing []string
	for _, column := range l.leftOut {
		if column != l.labels+periodColumn {
			missing = append(missing, l.heads[column])
		}
	}
	if len(missing) > 0 {
		fmt.Fprintf(b, "\n%d columns have no room for %s\n", t.Width, strings.Join(missing, " and "))
	}
	for n, note := range notes {
		if n == 0 {
			b.WriteByte('\n')
		}
		b.WriteString(t.Wrap(note) + "\n")
	}
	return b.Flush()
}

// Wrap returns a text with line breaks, so that lines fit the width.
func (t *Table) Wrap(text string) string {
	if t.Width == 0 {
		return text
	}
	var b strings.Builder
	column := 0
	for n, word := range strings.Split(text, " ") {
		width := textWidth(word)
		switch {
		case n == 0:
		case column+1+width > t.Width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += width
	}
	return b.String()
}

// markdownEscaper escapes a text for Markdown, so that no part of it becomes a link, an image, a
// mention, an issue, an emoji, a formula or HTML. GitHub removes backslashes before it searches for
// mentions, issues and emojis, so an empty comment cuts these.
var markdownEscaper = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "~", `\~`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "!", `\!`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"$", "<span>$</span>", "@", "@<!-- -->", "#", "#<!-- -->", ": ", ": ", ":", ":<!-- -->", "www.", "www<!-- -->.",
)

// markdown writes a grid as a table of Markdown, and notes below it. Proven changes are bold.
func (t *Table) markdown(b *bufio.Writer, g *grid, notes []string) {
	escape := markdownEscaper.Replace
	for _, head := range g.heads[:g.labels] {
		b.WriteString(strings.TrimRight("| "+head, " ") + " ")
	}
	b.WriteString("| " + strings.Join(g.heads[g.labels:], " | ") + " |\n|" +
		strings.Repeat(" --- |", g.labels) + strings.Repeat(" --: |", len(g.heads)-g.labels) + "\n")
	for _, row := range g.rows {
		for _, c := range row {
			text := escape(c.text)
			if c.colour == red || c.colour == green {
				text = "**" + text + "**"
			}
			b.WriteString("| " + text + " ")
		}
		b.WriteString("|\n")
	}
	for _, note := range notes {
		b.WriteString("\n" + escape(note) + "\n")
	}
}

// Escape returns a text as it must stand in the output: escaped in Markdown, and otherwise
// unchanged.
func (t *Table) Escape(text string) string {
	if t.Markdown {
		return markdownEscaper.Replace(text)
	}
	return text
}

// isLog reports whether a summary is that of a whole log.
func isLog(s *output.Summary) bool { return s.Input != "" && s.InputTag == nil }

// nameOf returns the name of a summary in the first column.
func (t *Table) nameOf(s *output.Summary) string {
	if label := t.Labels[s.Input]; label != "" && isLog(s) {
		return tags.Printable(label)
	}
	return s.Name()
}
