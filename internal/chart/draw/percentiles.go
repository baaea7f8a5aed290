package draw

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/page"
)

// Percentiles is a chart of values against percentiles, on an axis of nines.
var Percentiles = &Type{
	Name:    "percentiles",
	Options: []string{"compare", "diff"},
	Chart: page.Chart{
		Marks: page.Curves, Empty: "no values were recorded", EmptyView: "no interval with values starts in this time",
	},
	name: func(p *Picture) string { return cmp.Or(p.ValueName, "value") },
	draw: (*sheet).percentiles,
}

// end returns where the curve ends on the axis of nines: at the middle of the share of its last
// value.
func (c *Curve) end() float64 {
	end := math.Log10(2 * math.Max(float64(c.Count), 1))
	if n := len(c.Steps); n > 1 && c.Steps[n-2].Percentile < 100 {
		end = math.Max(end, axis.Nines(c.Steps[n-2].Percentile))
	}
	return end
}

// points returns the curve as points on the axis of nines. The last point is the maximum.
func (c *Curve) points() (points []Point) {
	if c.Count == 0 {
		return nil
	}
	end := c.end()
	for _, step := range c.Steps {
		at := math.Min(axis.Nines(step.Percentile), end)
		points = append(points, Point{at, at, step.Value})
	}
	return points
}

func (c *Curve) max() float64 {
	if len(c.Steps) == 0 {
		return 0
	}
	return c.Steps[len(c.Steps)-1].Value
}

// percentiles draws a chart of percentile curves.
func (s *sheet) percentiles() {
	shown := s.Curves
	styles := s.colours.stylesFor(groupsOfCurves(shown), 1)
	lines, steps := splitLimits(s.Limits)
	values, last, recorded := newRange(), 2.0, false
	for _, curve := range s.whole.Curves {
		if curve.Count == 0 {
			continue
		}
		recorded = true
		last = math.Max(last, curve.end())
		for _, step := range curve.Steps {
			values.add(step.Value)
		}
		for _, b := range curve.Band {
			values.add(b.Low)
			values.add(b.High)
		}
	}
	for _, l := range s.Limits {
		values.add(l.Value)
	}
	s.scale = axis.ScaleFor(s.what.Unit, values.high)
	endings := s.curveEndings(styles)
	if !s.Facets && len(steps) > 0 {
		s.drawLegend([]entry{s.limitEntry(steps)})
	}
	s.measureArea()
	if !s.Facets {
		s.headroom = noteSize + 8*pixel
	}
	s.valueAxis(values)
	x := &s.plot.X
	x.Min, x.Max = 0, last
	x.Tick.Marker = marker(axis.NinesTicks(last, 64*last/float64(s.columns*96/s.DPI)))
	s.xTitle = "percentile"
	s.reserveEndings(endings, lines)

	s.chart(func(c draw.Canvas, x, y func(float64) vg.Length) {
		if !recorded {
			s.message(c, s.what.Empty)
			return
		}
		s.drawExcess(c, x, y, shown, steps)
		if s.Baseline > 0 {
			s.stroke(c, style{colour: s.faint}, 1.6*pixel, []vg.Point{{X: c.Min.X, Y: y(s.Baseline)}, {X: c.Max.X, Y: y(s.Baseline)}})
		}
		for i := range shown {
			s.drawConfidence(c, x, y, styles.of(i, 0), shown[i].Band)
		}
		for i := range shown {
			s.drawCurve(c, x, y, styles.of(i, 0), shown[i].points())
		}
		for i, e := range endings {
			pale := style{colour: s.mixed(e.style.colour, 0.45), dashes: []vg.Length{1, 3}}
			s.stroke(c, pale, pixel, []vg.Point{{X: x(shown[i].end()), Y: y(e.value)}, {X: c.Max.X, Y: y(e.value)}})
		}
		s.drawEndings(c, y, endings, lines)
		s.drawSteps(c, x, y, steps)
		if top := slices.MaxFunc(shown, func(a, b Curve) int { return cmp.Compare(a.max(), b.max()) }); !s.Facets {
			s.labelHighest(c, x(top.end()), y(top.max()), s.highestText("", top.max()))
		}
	})
}

// drawExcess shades where a curve is above the step of its percentile.
func (s *sheet) drawExcess(c draw.Canvas, x, y func(float64) vg.Length, curves []Curve, steps []Limit) {
	for _, curve := range curves {
		from, points := 0.0, curve.points()
		for _, l := range steps {
			to := axis.Nines(l.Percentile)
			for i, p := range points {
				if p.Value > l.Value && p.Start >= from && p.Start <= to {
					end := min(to, points[len(points)-1].Start)
					high := points[i].Value
					for _, q := range points[i:] {
						if q.Start <= end {
							high = q.Value
						}
					}
					s.plate(c, vg.Rectangle{Min: vg.Point{X: x(p.Start), Y: y(l.Value)}, Max: vg.Point{X: min(max(x(end), x(p.Start)+pixel), c.Max.X), Y: y(high)}}, s.breach())
					break
				}
			}
			from = to
		}
	}
}

// drawConfidence draws the intervals of a curve as a pale band. It fades where few values are left.
// A band of ratios has the colour of the curve only where it excludes 1.
func (s *sheet) drawConfidence(c draw.Canvas, x, y func(float64) vg.Length, st style, band []Bound) {
	const (
		pale   = 0.22 // opacity
		fading = 40   // values above the percentile, below which it fades
	)
	for i := 1; i < len(band); i++ {
		a, b := band[i-1], band[i]
		fill := st.colour
		if s.Baseline > 0 && (min(a.Low, b.Low) <= s.Baseline && max(a.High, b.High) >= s.Baseline) {
			fill = s.faint
		}
		opaque := color.NRGBAModel.Convert(fill).(color.NRGBA)
		opaque.A = uint8(255 * pale * min(b.Above/fading, 1))
		from, to := x(axis.Nines(a.Percentile)), x(axis.Nines(b.Percentile))
		c.FillPolygon(opaque, []vg.Point{{X: from, Y: y(a.Low)}, {X: to, Y: y(b.Low)}, {X: to, Y: y(b.High)}, {X: from, Y: y(a.High)}})
	}
}

func (s *sheet) drawCurve(c draw.Canvas, x, y func(float64) vg.Length, st style, points []Point) {
	if len(points) == 0 {
		return
	}
	var path []vg.Point
	for _, p := range points {
		path = append(path, vg.Point{X: x(p.Start), Y: y(p.Value)})
	}
	s.stroke(c, st, 1.8*pixel, path)
	s.dot(c, st, 3*pixel, path[len(path)-1])
	if st.marked {
		s.drawSigns(c, st, path, path[0].X+40*pixel)
	}
}

// curveEndings returns a label for the end of each curve: what it is, and of how many values.
func (s *sheet) curveEndings(styles *stylist) (endings []ending) {
	for i, curve := range s.Curves {
		if s.Facets {
			break // their titles say it
		}
		values := axis.Value("", float64(curve.Count)) + " values"
		if len(s.Total.Lines) > 0 { // a report has less room
			values = strings.TrimSuffix(values, " values")
		}
		if curve.Label != "" || len(s.Curves) > 1 {
			values = named(curve.Label) + ", " + values
		}
		endings = append(endings, ending{value: curve.max(), label: values, style: styles.of(i, 0)})
	}
	return endings
}

// splitLimits returns the limits for all values, and those for percentiles, which form steps.
func splitLimits(limits []Limit) (lines, steps []Limit) {
	for _, l := range limits {
		if l.Percentile == 0 {
			lines = append(lines, l)
		} else {
			steps = append(steps, l)
		}
	}
	slices.SortFunc(steps, func(a, b Limit) int { return cmp.Compare(a.Percentile, b.Percentile) })
	return lines, steps
}

// drawSteps draws the limit of each percentile up to that percentile.
func (s *sheet) drawSteps(c draw.Canvas, x, y func(float64) vg.Length, steps []Limit) {
	var path []vg.Point
	at := c.Min.X
	for _, l := range steps {
		to, height := c.Max.X, y(l.Value)
		if l.Percentile < 100 {
			to = min(x(axis.Nines(l.Percentile)), c.Max.X)
		}
		path = append(path, vg.Point{X: at, Y: height}, vg.Point{X: to, Y: height})
		at = to
	}
	s.stroke(c, s.limitStyle(), 1.6*pixel, path)
}
