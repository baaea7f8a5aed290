package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/internal/chart/axis"
)

// Rows of an overview are at least leastRow high, so that they can be read. By default they are
// usualRow high, and at most usualRows.
const (
	leastRow  = 15 * pixel
	usualRow  = 20 * pixel
	usualRows = 100
)

// IsOverview reports whether the picture is an overview: its series are too many for charts.
func (p *Picture) IsOverview() bool {
	parts, _ := p.facets()
	if len(parts) == 0 {
		return false
	}
	const least = 70 * pixel // the height of a chart
	width, height := p.size()
	columns, rows := facetGrid(len(parts), vg.Point{X: width, Y: height})
	return len(parts) > mostFacets || height/vg.Length(rows) < least || width/vg.Length(columns) < 1.5*least
}

// FitOverview makes the picture as high as an overview needs, if it is one.
func (p *Picture) FitOverview() {
	if p.IsOverview() {
		rows := min(len(p.overviewRows()), usualRows)
		p.Height = max(p.Height, float64(usualRow/pixel)*float64(rows)+120)
	}
}

// An overviewRow is what an overview shows of a tag.
type overviewRow struct {
	label          string
	count          int64
	p50, p99, high float64
	points         []Point // the maxima over time, or rates
}

// overviewRows returns the rows, those with the highest values first.
func (p *Picture) overviewRows() (rows []overviewRow) {
	points := map[string][]Point{}
	for _, s := range p.Series {
		points[s.Label] = s.Lines[len(s.Lines)-1].Points
	}
	for _, ws := range p.Windows {
		if points[ws.Label] == nil {
			points[ws.Label] = ws.maxima()
		}
	}
	add := func(row overviewRow) {
		row.points = points[row.label]
		if p.Type.Chart.Rate {
			row.high = 0
			for _, point := range row.points {
				row.high = max(row.high, noNaN(point.Value))
			}
		}
		rows = append(rows, row)
	}
	for _, s := range p.Summary {
		add(overviewRow{label: s.Label, count: s.Count, p50: s.Percentiles[0], p99: s.Percentiles[2], high: s.Max})
	}
	if len(rows) == 0 {
		for _, c := range p.Curves {
			add(overviewRow{label: c.Label, count: c.Count, p50: c.at(50), p99: c.at(99), high: c.max()})
		}
	}
	slices.SortStableFunc(rows, func(a, b overviewRow) int { return cmp.Compare(b.high, a.high) })
	return rows
}

// overview draws a table: for each tag its maxima over time, its values from the median to the
// maximum with the 99th percentile, and how many there are.
func (s *sheet) overview() {
	const gap = 20 * pixel
	rows := s.overviewRows()
	s.measureArea()
	area := s.area
	fit := max(int((area.Size().Y-3*usualRow)/leastRow), 1)
	shown := rows[:min(len(rows), fit)]
	values, over := newRange(), 0
	for _, row := range shown {
		values.add(row.high)
		for _, p := range row.points {
			values.add(p.Value)
		}
		if !s.what.Rate {
			values.add(row.p50)
		}
		over = max(over, len(row.points))
	}
	if values.high <= 0 {
		values.lowest, values.high = 1, 10
	}
	font, head := textStyle(tickSize), textStyle(tickSize)
	font.Color, head.Color = s.colours.text, s.faint
	font.YAlign, head.YAlign = text.YCenter, text.YCenter
	// The columns: tag, over time, from the median to the maximum, maximum, count.
	number := textWidth(font, "9,999,999,999")
	labels := vg.Length(0)
	for _, row := range shown {
		labels = max(labels, textWidth(font, named(row.label)))
	}
	labels = min(labels, area.Size().X/4)
	left, right := area.Min.X+labels+gap, area.Max.X-2*number
	middle := left
	switch {
	case over > 0 && s.what.Rate:
		middle = right
	case over > 0:
		middle = left + (right-left)*3/5
	}
	top := area.Max.Y - usualRow
	height := min((top-area.Min.Y-2*usualRow)/vg.Length(len(shown)), 2*usualRow)
	bottom := top - height*vg.Length(len(shown))

	ticks, low, high := axis.Log(s.what.Unit, values.lowest, values.high, false, most(int((right-middle)/pixel), 70))
	part := func(v float64) vg.Length { return vg.Length(math.Log(max(v, low)/low) / math.Log(high/low)) }
	heading := func(x vg.Length, str string, width vg.Length) {
		area.FillText(head, vg.Point{X: x, Y: top + usualRow/2}, shorten(head, str, width))
	}
	line := draw.LineStyle{Color: s.grid, Width: pixel}
	below := head
	below.XAlign = text.XCenter
	tick := func(x vg.Length, label string, from, to vg.Length) {
		area.StrokeLine2(line, x, bottom, x, top)
		if half := textWidth(below, label) / 2; x-half >= from && x+half <= to {
			area.FillText(below, vg.Point{X: x, Y: bottom - usualRow/2}, label)
		}
	}
	series := s.Series
	if len(series) == 0 {
		series, _ = s.windowRange()
	}
	from, to, _ := s.timeAxis(series)
	place := func(t float64) vg.Length { return left + (middle-gap-left)*vg.Length((t-from)/(to-from)) }
	if over > 0 {
		for _, t := range s.plot.X.Tick.Marker.Ticks(0, 0) {
			if !t.IsMinor() && t.Value <= to {
				tick(place(t.Value), t.Label, left-gap, middle-gap/2)
			}
		}
		heading(left, s.overTimeName()+", "+s.xTitle, middle-left-gap)
	}
	if middle < right {
		for _, t := range ticks {
			if t.Label != "" {
				tick(middle+(right-middle)*part(t.Value), t.Label, middle-gap/2, right+gap)
			}
		}
		heading(middle, "p50 to max, p99 marked", right-middle)
	}
	head.XAlign = text.XRight
	heading(right+number, "max", number)
	heading(area.Max.X, "values", number)
	for i, row := range shown {
		y := top - height*(vg.Length(i)+0.5)
		base, room := y-height*0.42, height*0.84
		area.FillText(font, vg.Point{X: area.Min.X, Y: y}, shorten(font, named(row.label), labels))
		line := font
		line.XAlign = text.XRight
		area.FillText(line, vg.Point{X: right + number, Y: y}, axis.Value(s.what.Unit, row.high))
		area.FillText(line, vg.Point{X: area.Max.X, Y: y}, axis.Value("", float64(row.count)))
		at := func(v float64) vg.Length { return base + room*part(v) }
		for _, run := range runs(row.points, (to-from)/float64(s.columns)) {
			path := stepPath(run, place, at)
			fill := append(slices.Clone(path), vg.Point{X: path[len(path)-1].X, Y: base}, vg.Point{X: path[0].X, Y: base})
			area.FillPolygon(s.mixed(s.colours.lines[0], 0.25), fill)
			s.stroke(area, style{colour: s.colours.lines[0]}, pixel, path)
		}
		if middle < right && row.count > 0 {
			x := func(v float64) vg.Length { return middle + (right-middle)*part(v) }
			bar := func(from, to vg.Length, half vg.Length, share float64) {
				s.plate(area, vg.Rectangle{Min: vg.Point{X: from, Y: y - half}, Max: vg.Point{X: max(to, from+pixel), Y: y + half}}, s.mixed(s.colours.lines[1], share))
			}
			bar(x(row.p50), x(row.high), height*0.2, 0.4)
			bar(x(row.p99)-pixel, x(row.p99)+pixel, height*0.36, 1)
		}
	}
	if rest := rows[len(shown):]; len(rest) > 0 {
		area.FillText(font, vg.Point{X: area.Min.X, Y: area.Min.Y + usualRow/2},
			fmt.Sprintf("and %d more, of at most %s; a higher picture shows more", len(rest), axis.Value(s.what.Unit, rest[0].high)))
	}
}

// overTimeName says what the overview shows over time.
func (s *sheet) overTimeName() string {
	if s.what.Rate || len(s.Series) == 0 {
		return cmp.Or(s.what.Name, "maximum")
	}
	lines := s.Series[0].Lines
	return strings.Replace(shortName(lines[len(lines)-1].Name), "max", "maximum", 1) + " of " + s.Span
}
