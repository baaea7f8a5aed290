package draw

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
)

// curvesPanel returns a panel with the percentile curves of p, on axes for the curves of whole.
func (c *pen) curvesPanel(p, whole *chart.Picture, outer vg.Rectangle) *panel {
	pn := c.newPanel(chart.Percentiles, p, whole, outer)
	isFacet := p != whole
	priority := func(s *chart.Series) float64 { return priorityOf(p, s.Label, s.Curve.Max()) }
	shown, _ := chart.Highest(chart.WithValues(p.Series), priority, chart.MaxTogether)
	groups, _ := chart.GroupsAndLines(shown)
	styles := chart.Styles(groups, nil)
	onAxes := whole.Series
	if !isFacet {
		onAxes = shown
	}
	pn.x.low, pn.x.high = 0, 2
	for _, s := range onAxes {
		pn.x.high = max(pn.x.high, s.Curve.End(), s.Corrected.End())
	}
	pn.content.values = func(add func(float64)) {
		for _, s := range onAxes {
			addCurve(&s.Curve, add)
			addCurve(&s.Corrected, add)
		}
	}
	var steps []chart.Limit
	for _, l := range p.LabelledLimits() {
		if l.Percentile > 0 {
			steps = append(steps, l)
		} else {
			pn.around.across = append(pn.around.across, l)
		}
	}
	if !isFacet {
		pn.around.headroom = noteSize + 8*pixel
		pn.around.endings = c.curveEndings(shown, styles, len(p.Series) > 1)
	}
	pn.content.paint = func() {
		pn.drawExcess(shown, steps)
		for i := range shown {
			pn.drawBand(c.styleOf(styles[i][0]), shown[i].Curve.Band)
		}
		for i := range shown {
			pn.drawCurve(c.styleOf(styles[i][0]), shown[i].Curve.Points(), !isFacet)
		}
		for i := range shown {
			pn.drawCorrected(c.correctedStyle(styles[i][0]), &shown[i].Corrected)
		}
		pn.drawSteps(steps)
		if !isFacet && len(shown) > 0 {
			byMax := func(a, b chart.Series) int { return cmp.Compare(a.Curve.Max(), b.Curve.Max()) }
			top := slices.MaxFunc(shown, byMax).Curve
			pn.drawHighestLabel(top.End(), top.Max(), pn.highestText("", top.Max()))
		}
	}
	return pn
}

// curveEndings returns the labels at the ends of curves. If named is set, curves without a label
// have the name untagged.
func (c *pen) curveEndings(shown []chart.Series, styles [][]chart.Style, named bool) (endings []ending) {
	for i, s := range shown {
		label := chart.Counted(s.Curve.Count, "value")
		if s.Label != "" || named {
			label = chart.Named(s.Label) + ", " + label
		}
		endings = append(endings, ending{
			value: s.Curve.Max(),
			label: label,
			style: c.styleOf(styles[i][0]),
			short: chart.Named(s.Label),
		})
		if s.Corrected.Count > 0 {
			endings = append(endings, ending{
				value: s.Corrected.Max(),
				label: withDue,
				style: c.correctedStyle(styles[i][0]),
				short: "corrected",
			})
		}
	}
	return endings
}

// addCurve calls add with those values of a curve and its band that the axis of values must show.
func addCurve(curve *chart.Curve, add func(float64)) {
	for _, step := range curve.Steps {
		if step.Percentile >= chart.MinShown {
			add(step.Value)
		}
	}
	for _, b := range curve.Band {
		if b.Percentile >= chart.MinShown {
			add(b.Low)
			add(b.High)
		}
	}
}

// drawExcess shades the areas between curves and the limits of percentiles below them.
func (pn *panel) drawExcess(series []chart.Series, steps []chart.Limit) {
	for _, s := range series {
		from := 0.0
		for _, l := range steps {
			to, limit := axis.Nines(l.Percentile), pn.inside(l.Value)
			var area []vg.Point
			for _, p := range s.Curve.Points() {
				if p.Value > l.Value && p.Start >= from && p.Start <= to {
					area = append(area, vg.Point{X: pn.X(p.Start), Y: pn.inside(p.Value)})
				}
			}
			if n := len(area); n > 0 {
				right := vg.Point{X: max(area[n-1].X, area[0].X+pixel), Y: limit}
				pn.pen.FillPolygon(pn.pen.breachColour(), append(area, right, vg.Point{X: area[0].X, Y: limit}))
			}
			from = to
		}
	}
}

// drawBand draws the band of a curve. The band becomes paler where few values lie above.
func (pn *panel) drawBand(st style, band []chart.Bound) {
	const share, shades = 0.22, 10 // opacity, and number of its steps
	shade := func(b chart.Bound) float64 { return math.Ceil(shades * min(b.Above/chart.FewAbove, 1)) }
	for len(band) > 1 {
		n := 2
		for n < min(len(band), strokeAtOnce) && shade(band[n]) == shade(band[1]) {
			n++
		}
		var lows, highs []vg.Point
		for _, b := range band[:n] {
			at := pn.X(axis.Nines(b.Percentile))
			lows = append(lows, vg.Point{X: at, Y: pn.inside(b.Low)})
			highs = append(highs, vg.Point{X: at, Y: pn.inside(b.High)})
		}
		slices.Reverse(highs)
		pn.pen.FillPolygon(pale(st.colour, share*shade(band[1])/shades), append(lows, highs...))
		band = band[n-1:]
	}
}

// drawCurve draws a curve with a dot at its maximum. If labelled is set, a dotted line leads from
// the dot to the label at the right.
func (pn *panel) drawCurve(st style, points []chart.Point, labelled bool) {
	if len(points) == 0 {
		return
	}
	path := pn.curvePath(points)
	pn.pen.stroke(st, 1.8*pixel, path...)
	end := path[len(path)-1]
	pn.pen.fillDot(st.colour, 3*pixel, end)
	if labelled {
		dotted := style{colour: pale(st.colour, 0.45), dashes: []vg.Length{1, 3}}
		pn.pen.stroke(dotted, pixel, end, vg.Point{X: pn.frame.Max.X, Y: end.Y})
	}
}

// curvePath returns the points of a curve in the panel. Values below the axis are left out, and the
// curve then comes up from the lower edge.
func (pn *panel) curvePath(points []chart.Point) (path []vg.Point) {
	for n, p := range points {
		if !pn.y.shows(p.Value) && n < len(points)-1 {
			continue
		}
		if len(path) == 0 && n > 0 {
			path = append(path, vg.Point{X: pn.X(p.Start), Y: pn.frame.Min.Y})
		}
		path = append(path, vg.Point{X: pn.X(p.Start), Y: pn.inside(p.Value)})
	}
	return path
}

// withDue is the label of curves with correction for coordinated omission.
const withDue = "with those that were due"

// correctedStyle returns the style of a curve with correction for coordinated omission, in the
// colour of the series with style s.
func (c *pen) correctedStyle(s chart.Style) style {
	return style{colour: c.Lines[s.Colour], dashes: lengths([]float64{5, 4})}
}

// drawCorrected draws a curve with correction for coordinated omission, and the value of its named
// step.
func (pn *panel) drawCorrected(st style, curve *chart.Curve) {
	path := pn.curvePath(curve.Points())
	pn.pen.stroke(st, 1.8*pixel, path...)
	if named := curve.Named; named.Percentile > 0 {
		at := vg.Point{X: pn.X(axis.Nines(named.Percentile)), Y: pn.inside(named.Value)}
		pn.pen.fillDot(st.colour, 3*pixel, at)
		font := pn.pen.font(noteSize)
		label := axis.Value(pn.what.Unit, named.Value)
		pn.pen.drawText(font, max(at.X-font.Width(label)-5*pixel, pn.frame.Min.X+2*pixel), at.Y+2*pixel, label)
	}
}

// drawSteps draws the limits of percentiles as steps. The step of a limit ends at its percentile.
func (pn *panel) drawSteps(steps []chart.Limit) {
	f, font := pn.frame, pn.pen.font(noteSize)
	var path []vg.Point
	at := f.Min.X
	for _, l := range steps {
		to, height := f.Max.X, pn.Y(l.Value)
		if l.Percentile > 0 && l.Percentile < 100 {
			to = min(pn.X(axis.Nines(l.Percentile)), f.Max.X)
		}
		path = append(path, vg.Point{X: at, Y: height}, vg.Point{X: to, Y: height})
		if !pn.around.untitled && height <= f.Max.Y {
			font.Color = pn.pen.Limit
			for _, label := range []string{l.Label, strings.TrimPrefix(l.Label, "SLA: "), l.Name()} {
				if font.Width(label) <= to-at-6*pixel {
					pn.pen.drawText(font, at+4*pixel, height+3*pixel, label)
					break
				}
			}
		}
		at = to
	}
	pn.pen.stroke(pn.pen.limitStyle(), 1.6*pixel, path...)
}
