package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/internal/picture/axis"
)

// overTime draws a timeline or throughput chart.
func (s *sheet) overTime() {
	shown, rest := split(s.Series, (*Series).max)
	if s.Facets {
		shown, rest = s.Series, nil
	}
	groups, lines := groupsOf(shown)
	styles := s.colours.stylesFor(groups, len(lines))
	if !s.Facets {
		s.drawLegend(s.lineLegend(styles, shown, rest, lines))
	}
	s.reserveMarks()
	s.measureArea()

	from, to, any := s.timeAxis(s.whole.Series)
	values := newRange()
	for _, series := range s.whole.Series {
		for _, line := range series.Lines {
			for _, p := range line.Points {
				values.add(p.Value)
			}
		}
	}
	recorded := values.high > 0 || values.zero
	for _, l := range s.Limits {
		values.add(l.Value)
	}
	s.valueAxis(values)
	s.reserveLimits(s.Limits)

	s.chart(func(c draw.Canvas, x, y func(float64) vg.Length) {
		if !any || !recorded {
			s.message(c, s.what.Empty)
			return
		}
		width := (to - from) / float64(s.columns)
		s.drawBreaches(c, x, shown, width)
		s.drawBands(c, x, y, envelope(firstLines(rest), from, to, s.columns))
		for _, i := range drawingOrder(shown, s.columns) {
			for n, line := range shown[i].Lines {
				s.drawLine(c, x, y, styles.of(i, n), line.Points, runs(line.Points, width))
			}
		}
		s.drawLimits(c, y, s.Limits)
		s.drawMarks(c, x)
		if top, line, ok := highest(s.Series); ok {
			s.labelHighest(c, x(top.middle()), y(top.Value), s.highestName(line), top.Value)
		}
	})
}

// lineLegend returns an entry for each series, one for each measure if there are several, and one
// for the rest.
func (s *sheet) lineLegend(styles *stylist, shown, rest []Series, lines []string) (entries []entry) {
	if len(shown) > 1 || len(shown) == 1 && shown[0].Label != "" {
		for i, series := range shown {
			entries = append(entries, entry{label: named(series.Label), style: styles.of(i, 0)})
			if len(shown) == 1 && len(lines) > 1 {
				entries[0].plain = true
			}
		}
	}
	if len(lines) > 1 {
		for n, line := range lines {
			st := styles.of(0, n)
			if len(shown) > 1 {
				st.colour = s.faint
			}
			entries = append(entries, entry{label: line, style: st})
		}
	}
	if len(rest) > 0 {
		entries = append(entries, entry{label: fmt.Sprintf("the other %d", len(rest)), band: true})
	}
	return entries
}

// named returns the label of a series as it is printed.
func named(label string) string {
	if label == "" {
		return "untagged"
	}
	return label
}

// timeAxis sets up the horizontal axis and returns the time that it shows.
func (s *sheet) timeAxis(series []Series) (from, to float64, ok bool) {
	from, to, ok = timeRange(series)
	if !ok {
		from, to = 0, 1000
	}
	from, to = roomy(from, to, s.Absolute)
	x := &s.plot.X
	x.Min, x.Max = from, to
	ticks, title := axis.Relative(from/1000, to/1000, most(s.columns*96/s.DPI, 80))
	if s.Absolute {
		ticks, title = axis.Clock(from/1000, to/1000, float64(s.Origin)/1000, s.zone(), most(s.columns*96/s.DPI, 100))
	}
	for i := range ticks {
		ticks[i].Value *= 1000
	}
	x.Tick.Marker, s.xTitle = marker(ticks), title
	return from, to, ok
}

// roomy returns the range of a time axis. It starts at 0 if that is near, and is never empty.
func roomy(from, to float64, absolute bool) (float64, float64) {
	if !absolute && from > 0 && from < (to-from)/20 {
		from = 0
	}
	if to <= from {
		from, to = from-500, to+500
	}
	return from, to
}

// drawingOrder returns the indexes of series in the order in which to draw them, so that none hides
// another. Lines with many points come with the highest first. Otherwise lines come in their order,
// in which dashes have ever larger gaps.
func drawingOrder(series []Series, columns int) []int {
	order := make([]int, len(series))
	height := make([]float64, len(series))
	for i := range series {
		order[i] = i
		if points := series[i].Lines[0].Points; len(points) > columns/2 {
			height[i] = typicalValue(points)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(height[b], height[a]) })
	return order
}

func typicalValue(points []Point) float64 {
	values := make([]float64, 0, len(points))
	for _, p := range points {
		values = append(values, noNaN(p.Value))
	}
	return median(values)
}

// highest returns the highest point of the lines of series, and the name of its line.
func highest(series []Series) (top Point, name string, ok bool) {
	for _, s := range series {
		for _, line := range s.Lines {
			for _, p := range line.Points {
				if p.Value > top.Value || p.Value == top.Value && !ok {
					top, name, ok = p, line.Name, true
				}
			}
		}
	}
	return top, name, ok
}

// highestName returns what the highest point of a line is: a maximum only if the line shows maxima.
func (s *sheet) highestName(line string) string {
	if percentile, ok := strings.CutSuffix(line, "%"); ok && !s.what.Rate {
		return "highest p" + percentile
	}
	return "max"
}

// Flattened reports whether a few high values leave most of a linear axis empty: a logarithmic one
// would show more.
func (p *Picture) Flattened() bool {
	var values []float64
	for _, s := range p.Series {
		for _, line := range s.Lines {
			for _, point := range line.Points {
				if point.Value > 0 {
					values = append(values, point.Value)
				}
			}
		}
	}
	if p.LogValues || p.Type.Chart.Log || len(values) < 20 || p.High > 0 {
		return false
	}
	slices.Sort(values)
	return values[len(values)-1] > 20*values[len(values)*9/10]
}

// labelHighest writes the highest value beside its point, with a name.
func (s *sheet) labelHighest(c draw.Canvas, x, y vg.Length, name string, v float64) {
	label := name + " " + axis.Value(s.what.Unit, v)
	if x < c.Min.X || x > c.Max.X || y < c.Min.Y || y > c.Max.Y {
		return // the axis does not reach so far
	}
	style := textStyle(noteSize)
	style.Color = s.colours.text
	width := textWidth(style, label)
	if y+5*pixel+noteSize <= c.Max.Y {
		// Nothing is higher, so the label hides nothing.
		c.FillText(style, vg.Point{X: min(max(x-width/2, c.Min.X+2*pixel), c.Max.X-width), Y: y + 4*pixel}, label)
		return
	}
	at := vg.Point{X: x + 8*pixel, Y: c.Max.Y - noteSize*lineSpace}
	if at.X+width > c.Max.X {
		at.X = x - 8*pixel - width
	}
	c.FillText(style, at, label)
}

// fewPoints is the number of points up to which a line has a dot at each.
const fewPoints = 40

// drawLine draws a line, whose points are thinned to runs. A thinned line has no dots.
func (s *sheet) drawLine(c draw.Canvas, x, y func(float64) vg.Length, st style, all []Point, runs [][]Point) {
	if len(runs) == 0 {
		return
	}
	points, recorded := 0, 0
	for _, run := range runs {
		points += len(run)
	}
	for _, p := range all {
		if !math.IsNaN(p.Value) {
			recorded++
		}
	}
	width := 1.8 * pixel
	if points > s.columns/2 {
		width = 1.1 * pixel
	}
	dots := points == recorded && points <= s.columns/4
	next := x(runs[0][0].middle()) + 40*pixel
	for _, run := range runs {
		path := make([]vg.Point, 0, len(run))
		for _, p := range run {
			path = append(path, vg.Point{X: x(p.middle()), Y: y(p.Value)})
		}
		if len(run) == 1 {
			// One interval between gaps is a line as long as it lasted, and can be seen.
			p := run[0]
			at := y(p.Value)
			path = []vg.Point{{X: x(p.Start), Y: at}, {X: max(x(p.End), x(p.Start)+pixel), Y: at}}
			if dots {
				s.dot(c, st, 2.5*pixel, vg.Point{X: x(p.middle()), Y: at})
			}
		}
		s.stroke(c, st, width, path)
		if dots && points <= fewPoints && len(run) > 1 {
			for _, at := range path {
				s.dot(c, st, 2.5*pixel, at)
			}
		}
		if st.marked {
			next = s.drawSigns(c, st, path, next)
		}
	}
}

// drawSigns puts squares on a line, which distinguish it from another line of the same colour. It
// returns the place of the next square.
func (s *sheet) drawSigns(c draw.Canvas, st style, path []vg.Point, next vg.Length) vg.Length {
	for _, at := range path {
		if at.X >= next {
			s.square(c, st, at)
			next = at.X + 80*pixel
		}
	}
	return next
}

func (s *sheet) square(c draw.Canvas, st style, at vg.Point) {
	const half = 3 * pixel
	s.plate(c, vg.Rectangle{Min: vg.Point{X: at.X - half, Y: at.Y - half}, Max: vg.Point{X: at.X + half, Y: at.Y + half}}, st.colour)
}

func (s *sheet) drawBands(c draw.Canvas, x, y func(float64) vg.Length, bands []band) {
	for i := 0; i < len(bands); {
		var top, bottom []vg.Point
		for ; i < len(bands) && !math.IsNaN(bands[i].low); i++ {
			b := bands[i]
			low, high := y(b.low), y(b.high)
			if high-low < pixel {
				high += pixel
			}
			top = append(top, vg.Point{X: x(b.from), Y: high}, vg.Point{X: x(b.to), Y: high})
			bottom = append(bottom, vg.Point{X: x(b.from), Y: low}, vg.Point{X: x(b.to), Y: low})
		}
		if len(top) > 0 {
			slices.Reverse(bottom)
			c.FillPolygon(s.band, append(top, bottom...))
		}
		for i < len(bands) && math.IsNaN(bands[i].low) {
			i++
		}
	}
}
