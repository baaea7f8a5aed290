package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/output/picture/axis"
)

// overTime draws a timeline or throughput chart.
func (s *sheet) overTime() {
	shown, rest := split(s.Series, (*Series).max)
	s.drawLegend(s.lineLegend(shown, rest))
	s.measureArea()

	from, to, any := s.timeAxis(s.Series)
	values := newRange()
	for _, series := range s.Series {
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
	s.valueAxis(&s.plot.Y, s.valueName(), values)
	s.reserveLimits(s.Limits)

	s.chart(func(c draw.Canvas, x, y func(float64) vg.Length) {
		if !any || !recorded {
			if s.Type == Throughput {
				s.message(c, "no interval has both values and a length")
				return
			}
			s.message(c, "no values were recorded")
			return
		}
		s.drawBands(c, x, y, envelope(rest, from, to, s.columns))
		width := (to - from) / float64(s.columns)
		for _, i := range byHeight(shown) {
			for n, line := range shown[i].Lines {
				s.drawLine(c, x, y, s.styleOf(i, n, len(s.Series), len(shown[i].Lines)), runs(line.Points, width))
			}
		}
		s.drawLimits(c, y, s.Limits)
	})
}

// valueName returns what the vertical axis shows.
func (s *sheet) valueName() string {
	if s.Type == Throughput {
		return "values per second"
	}
	if len(s.Series) > 0 && len(s.Series[0].Lines) == 1 {
		if name := s.Series[0].Lines[0].Name; name != "max" {
			return name + " of " + s.Span
		}
		return "maximum of " + s.Span
	}
	return "value"
}

// lineLegend returns an entry for each series, one for each measure if there are several, and one for the rest.
func (s *sheet) lineLegend(shown, rest []Series) (entries []entry) {
	lines := 1
	if len(shown) > 0 {
		lines = len(shown[0].Lines)
	}
	if len(shown) > 1 || len(shown) == 1 && shown[0].Label != "" {
		for i, series := range shown {
			e := entry{label: named(series.Label), style: s.styleOf(i, 0, len(s.Series), lines)}
			entries = append(entries, e)
		}
	}
	if lines > 1 {
		for n, line := range shown[0].Lines {
			st := s.styleOf(0, n, len(s.Series), lines)
			if len(shown) > 1 {
				st.colour = s.faint
			}
			entries = append(entries, entry{label: line.Name, style: st})
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

// timeAxis sets up the horizontal axis and returns what time it shows.
func (s *sheet) timeAxis(series []Series) (from, to float64, ok bool) {
	from, to, ok = timeRange(series)
	if !ok {
		from, to = 0, 1
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
	x.Tick.Marker, x.Label.Text = marker(ticks), title
	return from, to, ok
}

// roomy returns the range of a time axis: from 0 if that is near, and never nothing.
func roomy(from, to float64, absolute bool) (float64, float64) {
	if !absolute && from > 0 && from < (to-from)/20 {
		from = 0
	}
	if to <= from {
		from, to = from-500, to+500
	}
	return from, to
}

// byHeight returns the indexes of series, the highest first, so that a lower one is drawn over it and stays visible.
func byHeight(series []Series) []int {
	order := make([]int, len(series))
	height := make([]float64, len(series))
	for i := range series {
		order[i], height[i] = i, typicalValue(series[i].Lines[0].Points)
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

// fewPoints is up to how many points a line has a dot at each.
const fewPoints = 40

func (s *sheet) drawLine(c draw.Canvas, x, y func(float64) vg.Length, st style, runs [][]Point) {
	if len(runs) == 0 {
		return
	}
	points := 0
	for _, run := range runs {
		points += len(run)
	}
	width := 1.8 * pixel
	if points > s.columns/2 {
		width = 1.1 * pixel
	}
	dot, next := 2.5*pixel, x(runs[0][0].middle())+40*pixel
	if st.marked {
		dot = 4 * pixel
	}
	for _, run := range runs {
		path := make([]vg.Point, 0, len(run))
		for _, p := range run {
			path = append(path, vg.Point{X: x(p.middle()), Y: y(p.Value)})
		}
		if len(run) == 1 {
			// One interval between gaps: a line as long as it lasted, of at least a dot's width.
			p := run[0]
			at := y(p.Value)
			path = []vg.Point{{X: x(p.Start), Y: at}, {X: x(p.End), Y: at}}
			s.dot(c, st, dot, vg.Point{X: x(p.middle()), Y: at})
		}
		s.stroke(c, st, width, path)
		if points <= fewPoints && len(run) > 1 {
			for _, at := range path {
				s.dot(c, st, dot, at)
			}
		}
		if st.marked && points > fewPoints {
			next = s.drawMarks(c, st, path, next)
		}
	}
}

// drawMarks puts a dot on a line every so often, to tell it from the one of the same colour: the first at next. It returns where
// the one after these is due.
func (s *sheet) drawMarks(c draw.Canvas, st style, path []vg.Point, next vg.Length) vg.Length {
	for _, at := range path {
		if at.X >= next {
			s.dot(c, st, 3.5*pixel, at)
			next = at.X + 80*pixel
		}
	}
	return next
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
