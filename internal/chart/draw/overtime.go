package draw

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/internal/chart/axis"
)

// overTime draws a timeline or throughput chart.
func (s *sheet) overTime() {
	shown := s.Series
	groups, lines := groupsOf(shown)
	styles := s.colours.stylesFor(groups, len(lines))
	endings := s.lineEndings(styles, len(lines))
	if !s.Facets && len(endings) == 0 {
		var labels []string
		if len(shown) > 1 || len(shown) == 1 && shown[0].Label != "" {
			for _, series := range shown {
				labels = append(labels, named(series.Label))
			}
		}
		s.drawLegend(s.legend(labels, styles, lines))
	}
	s.reserveMarks()
	st := s.reserveStrip()
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
	if !s.Facets {
		s.headroom = noteSize + 10*pixel
	}
	s.valueAxis(values)
	s.reserveEndings(endings, s.Limits)
	if st != nil {
		more := max(min(st.width(s.textStyle(noteSize))+8*pixel, s.area.Size().X/6)-s.endings, 0)
		s.endings, s.area.Max.X = s.endings+more, s.area.Max.X-more
	}

	var left, right vg.Length
	s.chart(func(c draw.Canvas, x, y func(float64) vg.Length) {
		left, right = c.Min.X, c.Max.X
		if !any || !recorded {
			s.message(c, s.what.Empty)
			return
		}
		width := (to - from) / float64(s.columns)
		s.drawBreaches(c, x, shown, width)
		inside := func(v float64) vg.Length { return min(max(y(v), c.Min.Y), c.Max.Y) }
		for _, i := range drawingOrder(shown, s.columns) {
			for n, line := range shown[i].Lines {
				s.drawLine(c, x, inside, styles.of(i, n), runs(line.Points, width))
			}
		}
		s.drawEndings(c, y, endings, s.Limits)
		s.drawMarks(c, x)
		marked := len(s.Worst) > 0 && s.shows("max") // the list below has the maximum
		if marked {
			s.drawWorst(c, x, inside)
		}
		if top, line, ok := highest(s.Series); ok && !s.Facets && !marked {
			s.labelHighest(c, x(top.middle()), y(top.Value), s.highestText(line, top.Value))
		}
	})
	if st != nil {
		s.drawStrip(st, left, right, s.area.Max.X+s.endings, from, to)
	}
}

// shows reports whether the chart has lines of a name.
func (s *sheet) shows(line string) bool {
	return slices.ContainsFunc(linesOf(s.Series), func(l Line) bool { return l.Name == line })
}

// legend returns an entry for each label of series, and one for each measure if there are several.
func (s *sheet) legend(labels []string, styles *stylist, lines []string) (entries []entry) {
	for i, label := range labels {
		entries = append(entries, entry{label: label, style: styles.of(i, 0), plain: len(labels) == 1 && len(lines) > 1})
	}
	if len(lines) > 1 {
		for n, line := range lines {
			st := styles.of(0, n)
			if len(labels) > 1 {
				st.colour = s.faint
			}
			entries = append(entries, entry{label: shortName(line), style: st})
		}
	}
	return entries
}

// lineEndings returns the labels for the right ends of the lines, if they are few.
func (s *sheet) lineEndings(styles *stylist, measures int) (endings []ending) {
	if s.Facets || len(s.Series)*measures > mostTogether {
		return nil
	}
	for i, series := range s.Series {
		for n, line := range series.Lines {
			label := named(series.Label)
			if measures > 1 {
				label += " " + shortName(line.Name)
			}
			if len(s.Series) == 1 && series.Label == "" && measures > 1 {
				label = shortName(line.Name)
			} else if len(s.Series) == 1 && series.Label == "" {
				return nil
			}
			for _, p := range slices.Backward(line.Points) {
				if !math.IsNaN(p.Value) {
					endings = append(endings, ending{value: p.Value, label: label, style: styles.of(i, n)})
					break
				}
			}
		}
	}
	return endings
}

// named returns the label of a series as it is printed.
func named(label string) string { return cmp.Or(label, "untagged") }

// timeAxis sets up the horizontal axis and returns the time that it shows.
func (s *sheet) timeAxis(series []Series) (from, to float64, ok bool) {
	if s.times != nil {
		series = s.times
	}
	from, to, ok = timeRange(series)
	if !ok {
		from, to = 0, 1000
	}
	from, to = roomy(from, to, s.Absolute)
	x := &s.plot.X
	x.Min, x.Max = from, to
	if s.right > 0 { // charts of a report have the same ticks
		s.columns = int((s.right-s.left)/pixel) * s.DPI / 96
	}
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

// highestText says what the highest point of a line is, or the end of a curve: a maximum only if
// the line shows maxima.
func (s *sheet) highestText(line string, v float64) string {
	name := "max"
	if s.Baseline > 0 {
		name = "ratio of the maxima"
	}
	if strings.HasSuffix(line, "%") && !s.what.Rate {
		name = "highest " + shortName(line)
	}
	return name + " " + axis.Value(s.what.Unit, v)
}

// labelHighest writes a text above the highest point, where there is headroom.
func (s *sheet) labelHighest(c draw.Canvas, x, y vg.Length, label string) {
	if x < c.Min.X || x > c.Max.X || y < c.Min.Y || y > c.Max.Y-s.headroom/2 {
		return // the axis does not reach so far
	}
	style := s.textStyle(noteSize)
	style.Color = s.colours.text
	width := style.Width(label)
	c.FillText(style, vg.Point{X: min(max(x-width/2, c.Min.X+2*pixel), c.Max.X-width), Y: y + 4*pixel}, label)
}

// drawLine draws a line as steps, each as wide as its interval. The points are thinned to runs.
// Between steps the line is pale: otherwise a noisy line would be a wall.
func (s *sheet) drawLine(c draw.Canvas, x, y func(float64) vg.Length, st style, runs [][]Point) {
	points := 0
	for _, run := range runs {
		points += len(run)
	}
	dense := points > s.columns
	pale := style{colour: s.mixed(st.colour, 0.45)}
	next := c.Min.X + 40*pixel
	for _, run := range runs {
		path := stepPath(run, x, y)
		if dense {
			s.stroke(c, st, 1.1*pixel, path)
		} else {
			s.strokeParts(c, pale, pixel, path[1:len(path)-1])
			s.strokeParts(c, st, 1.8*pixel, path)
		}
		if st.marked {
			next = s.drawSigns(c, st, path, next)
		}
	}
}

// stepPath returns a run of points as steps: two points for each.
func stepPath(run []Point, x, y func(float64) vg.Length) (path []vg.Point) {
	const least = 3 * pixel // of an interval between gaps, so that it can be seen
	for _, p := range run {
		from, at := x(p.Start), y(p.Value)
		if n := len(path); n > 0 {
			from = max(from, path[n-1].X)
			path[n-1].X = from
		}
		path = append(path, vg.Point{X: from, Y: at}, vg.Point{X: max(x(p.End), from), Y: at})
	}
	last := &path[len(path)-1]
	last.X = max(last.X, path[0].X+least)
	return path
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
