package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/csvcell"
	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/sides"
	"hdrkit/tags"
)

// trendSparkline returns a sparkline of a figure over runs, with at most width characters. The
// scale begins at the lowest value, or at 75% of the highest value if the lowest is above that.
func trendSparkline(f *sides.TrendFigure, width int) string {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, p := range f.Points {
		if !math.IsNaN(p.Value) {
			lowest, highest = min(lowest, p.Value), max(highest, p.Value)
		}
	}
	lowest = min(lowest, 0.75*highest)
	width = min(width, len(f.Points))
	var line []rune
	for n := range width {
		some := f.Points[n*len(f.Points)/width : (n+1)*len(f.Points)/width]
		sum, count := 0.0, 0.0
		for _, p := range some {
			if !math.IsNaN(p.Value) {
				sum, count = sum+p.Value, count+1
			}
		}
		drawn := ' '
		if count > 0 && highest > 0 {
			drawn = bar((sum/count - lowest) / (highest - lowest) * float64(len(bars)))
		}
		line = append(line, drawn)
	}
	return string(line)
}

// WriteTrend writes a table of the levels, with sparklines over the runs, and for each tag a table
// with a row for each run. A row between two runs shows the levels that change there.
func (t *Table) WriteTrend(w io.Writer, trend *sides.Trend) error {
	b := bufio.NewWriter(w)
	escape := t.Escape
	fmt.Fprintf(b, "%s\n\n", escape(unit.About(trend.Scale)))
	t.writeGrid(b, func(digits int) *grid { return t.levelGrid(trend, digits) })
	var tag []sides.TrendFigure
	for n, f := range trend.Figures {
		tag = append(tag, f)
		if n+1 < len(trend.Figures) && tags.Compare(trend.Figures[n+1].Tag, f.Tag) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s\n\n", escape(f.TagName()))
		figures := tag
		t.writeGrid(b, func(digits int) *grid { return t.runGrid(trend, figures, digits) })
		tag = nil
	}
	return b.Flush()
}

// writeGrid writes a grid for a terminal or in Markdown. Grid returns it with a number of
// significant digits.
func (t *Table) writeGrid(b *bufio.Writer, grid func(digits int) *grid) {
	if t.Markdown {
		t.markdown(b, grid(4), nil)
		return
	}
	t.layOut(grid).write(b, t.Colour)
}

// levelGrid returns the grid of levels, with a row for each figure.
func (t *Table) levelGrid(trend *sides.Trend, digits int) *grid {
	g := &grid{
		labels:         2,
		heads:          []string{"tag", "figure", "level", "newest", "change", "from"},
		sparklineTitle: fmt.Sprintf("%d runs, a scale a row", len(trend.Runs)),
	}
	if t.Markdown {
		g.heads = append(g.heads, g.sparklineTitle)
	}
	for n := range trend.Figures {
		f := &trend.Figures[n]
		row := []cell{{text: f.TagName()}, {text: head(f.Figure)}, {text: "-"}, runCell(f.Points[len(f.Points)-1], digits), {text: "-"}, {text: "-"}}
		if levels := f.Levels; len(levels) > 0 {
			row[2].text = people.Digits(levels[len(levels)-1].Value, digits)
		}
		if changes := f.Changes(); len(changes) > 0 {
			last := changes[len(changes)-1]
			row[4], row[5].text = trendChangeCell(last), trend.Dates(last.After, " to ", t.Zone)
		}
		if t.Markdown {
			row = append(row, cell{text: trendSparkline(f, maxSparkline)})
		}
		g.rows = append(g.rows, row)
	}
	if len(trend.Runs) > 1 {
		g.sparkline = func(row, width int) string { return trendSparkline(&trend.Figures[row], width) }
	}
	return g
}

// runGrid returns the grid of the figures of a tag, with a row for each run. Before a run at which
// a level changes there is a row with the change.
func (t *Table) runGrid(trend *sides.Trend, figures []sides.TrendFigure, digits int) *grid {
	g := &grid{labels: 2, heads: []string{"run", "start"}}
	for _, f := range figures {
		g.heads = append(g.heads, head(f.Figure))
	}
	for n := range trend.Runs {
		marks, marked := []cell{{}, {text: "change"}}, false
		row := []cell{{text: trend.Short(n)}, {text: trend.Date(n, t.Zone)}}
		for k := range figures {
			mark := cell{}
			for _, c := range figures[k].Changes() {
				if c.After.From == n {
					mark, marked = trendChangeCell(c), true
				}
			}
			marks, row = append(marks, mark), append(row, runCell(figures[k].Points[n], digits))
		}
		if marked {
			g.rows = append(g.rows, marks)
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// runCell returns the cell of a figure of a run.
func runCell(p confidence.RunFigure, digits int) cell {
	if math.IsNaN(p.Value) {
		return cell{text: "-"}
	}
	return cell{text: people.Digits(p.Value, digits)}
}

// trendChangeCell returns the cell of a change of a level: red if it is a change for the worse.
func trendChangeCell(c sides.TrendChange) cell {
	sign, color := "-", green
	if c.Ratio() > 1 {
		sign = "+"
	}
	if c.Worse() {
		color = red
	}
	return cell{sign + c.Percent() + "%", color}
}

// TrendCSV writes a line for each figure of each run, with its level, and with the change of the
// level if it begins at the run.
func TrendCSV(w io.Writer, t *sides.Trend, zone *time.Location) error {
	b := bufio.NewWriter(w)
	b.WriteString("start,run,tag,figure,unit,value,level,change\n")
	var line []byte
	for n, r := range t.Runs {
		start := ""
		if r.Dated() {
			start = people.RFC3339(r.Start, zone)
		}
		for k := range t.Figures {
			f := &t.Figures[k]
			unit := t.Scale.Unit
			value := ""
			level := ""
			change := ""
			if f.Unitless() {
				unit = "/s"
			}
			if v := f.Points[n].Value; !math.IsNaN(v) {
				value = people.Shortest(v)
			}
			for at, l := range f.Levels {
				if l.From <= n && n < l.To {
					level = people.Shortest(l.Value)
				}
				if at > 0 && l.From == n {
					change = strconv.FormatFloat(l.Value/f.Levels[at-1].Value-1, 'g', 6, 64)
				}
			}
			line = line[:0]
			for _, cell := range []string{start, csvcell.Foreign(r.Name), csvcell.Foreign(f.TagName()), f.String(), unit, value, level} {
				line = append(csvcell.Append(line, cell), ',')
			}
			line = append(csvcell.Append(line, change), '\n')
			b.Write(line)
		}
	}
	return b.Flush()
}
